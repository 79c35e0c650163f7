use super::super::read::Read;
use super::super::testing::Bench;
use super::super::text::Encoding;
use super::*;

fn input(old: &str, new: &str, all: bool) -> Input {
    Input { file_path: String::new(), old_string: old.to_owned(), new_string: new.to_owned(), replace_all: Some(all) }
}

#[test]
fn line_ends_are_those_of_the_place() {
    let crlf = "a\r\nb\r\nc";
    assert_eq!(replace(crlf, &input("a\nb", "x\ny\nz", false)).unwrap(), "x\r\ny\r\nz\r\nc");
    assert_eq!(replace(crlf, &input("c", "c\nd", false)).unwrap(), "a\r\nb\r\nc\r\nd");
    assert_eq!(replace("a\nb\n", &input("a\r\nb", "x\r\ny", false)).unwrap(), "x\ny\n");
    let mixed = "a\r\nb\nc\r\nd\n";
    assert_eq!(replace(mixed, &input("b", "b\nB", false)).unwrap(), "a\r\nb\nB\nc\r\nd\n");
    assert_eq!(replace(mixed, &input("c", "c\nC", false)).unwrap(), "a\r\nb\nc\r\nC\r\nd\n");
    assert_eq!(replace("one line", &input("one", "two\n", false)).unwrap(), "two\n line");
}

#[test]
fn what_is_not_unique_or_not_there_is_refused_with_a_hint() {
    let content = "fn a() {\n    let x = 1;\n}\nfn b() {\n    let x = 1;\n}\n";
    let explain = |input: &Input| replace(content, input).unwrap_err().explain("f", content, input).message;
    assert!(explain(&input("let x = 1;", "", false)).contains("occurs 2 times in f, at lines 2, 5"));
    assert_eq!(replace(content, &input("let x = 1;", "y", true)).unwrap().matches('y').count(), 2);
    assert!(explain(&input("fn a() {\n  let x = 1;\n}", "", false)).contains("Lines 1 to 3 differ"));
    assert!(explain(&input("    let x = 2;", "", false)).contains("line 2: `    let x = 1;`"));
    assert!(explain(&input("     2\t    let x = 1;", "", false)).contains("line numbers"));
    assert!(explain(&input("zzzzzzzzzzzz", "", false)).contains("Nothing in it is similar"));
    assert!(explain(&input("\n\n\n", "", false)).contains("white space"));
}

#[tokio::test]
async fn every_form_of_a_file_is_kept() {
    let bench = Bench::new();
    for encoding in [Encoding::Utf8, Encoding::Utf8Mark, Encoding::Utf16Le, Encoding::Utf16Be] {
        bench.file("a.txt", encoding.encode("ä\r\nb\r\nend"));
        bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap();
        let edit = json!({"file_path": "a.txt", "old_string": "ä\nb", "new_string": "ö\nβ\nc"});
        let output = bench.run(&Edit, edit).await.unwrap();
        assert_eq!(bench.bytes("a.txt"), encoding.encode("ö\r\nβ\r\nc\r\nend"), "{}", encoding.name());
        assert!(matches!(output.detail, Some(ResultDetail::Edited { .. })));
    }
    for bytes in [&b"caf\xE9 a"[..], b"a\0a"] {
        bench.file("a.txt", bytes);
        bench.run(&Read, json!({"file_path": "a.txt"})).await.ok();
        let edit = json!({"file_path": "a.txt", "old_string": "a", "new_string": "b"});
        bench.run(&Edit, edit).await.unwrap_err();
        assert_eq!(bench.bytes("a.txt"), bytes);
    }
}

#[tokio::test]
async fn a_file_must_have_been_read_as_it_is() {
    let bench = Bench::new();
    bench.file("a.txt", "one\n");
    let edit = json!({"file_path": "a.txt", "old_string": "one", "new_string": "two"});
    assert_eq!(bench.run(&Edit, edit.clone()).await.unwrap_err().code, "not_read");
    bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap();
    bench.file("a.txt", "one!\n");
    assert_eq!(bench.run(&Edit, edit.clone()).await.unwrap_err().code, "changed_since_read");
    bench.run(&Read, json!({"file_path": "a.txt"})).await.unwrap();
    bench.run(&Edit, edit.clone()).await.unwrap();
    assert_eq!(bench.run(&Edit, edit).await.unwrap_err().code, "text_not_found");
    let missing = json!({"file_path": "b.txt", "old_string": "one", "new_string": "two"});
    assert_eq!(bench.run(&Edit, missing).await.unwrap_err().code, "not_found");
    assert!(!bench.place.directory.join("b.txt").exists());
}

#[tokio::test]
async fn the_request_shows_the_diff_but_no_content_when_it_cannot_be_done() {
    let bench = Bench::new();
    bench.file("a.txt", "one\nsecret\n");
    let access = |old: &str| {
        Edit.access(&json!({"file_path": "a.txt", "old_string": old, "new_string": "1"}), &bench.place).unwrap()
    };
    let Access::Edit { path, diff } = access("one") else { panic!() };
    assert_eq!(diff.as_deref(), Some("@@ -1,2 +1,2 @@\n-one\n+1\n secret\n"));
    assert_eq!(path, bench.place.directory.join("a.txt").display().to_string());
    assert_eq!(access("secret?"), Access::Edit { path, diff: None });
    let wrong = Edit.access(&json!({"file_path": "a.txt", "old_string": "", "new_string": "1"}), &bench.place);
    assert_eq!(wrong.unwrap_err().code, "invalid_arguments");
    let git = json!({"file_path": ".git/config", "old_string": "a", "new_string": "1"});
    assert_eq!(Edit.access(&git, &bench.place).unwrap_err().code, "outside_boundary");
}
