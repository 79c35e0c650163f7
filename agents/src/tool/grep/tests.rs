use super::super::testing::Bench;
use super::*;

async fn find(bench: &Bench, input: Value) -> String {
    bench.run(&Grep, input).await.unwrap().content
}

#[tokio::test]
async fn three_kinds_of_output_in_the_order_of_the_paths() {
    let bench = Bench::new();
    bench.file("b.rs", "fn b() {}\nlet x = 1;\nfn c() {}\n");
    bench.file("a/z.rs", "fn z() {}\r\n");
    bench.file("a/y.md", "fn y\n");
    assert_eq!(
        find(&bench, json!({"pattern": "fn .\\(", "glob": "*.rs"})).await,
        "a/z.rs:1:fn z() {}\nb.rs:1:fn b() {}\nb.rs:3:fn c() {}"
    );
    assert_eq!(
        find(&bench, json!({"pattern": "FN", "output_mode": "files", "case_insensitive": true})).await,
        "a/y.md\na/z.rs\nb.rs"
    );
    assert_eq!(find(&bench, json!({"pattern": "^fn", "output_mode": "count"})).await, "a/y.md:1\na/z.rs:1\nb.rs:2");
    assert_eq!(find(&bench, json!({"pattern": "\\{\\}$", "path": "a/z.rs"})).await, "a/z.rs:1:fn z() {}", "CR LF");
    assert_eq!(find(&bench, json!({"pattern": "nowhere"})).await, "No match in 3 files.");
}

#[tokio::test]
async fn context_and_gaps() {
    let bench = Bench::new();
    bench.file("a", "1\n2\nhit\n4\n5\n6\n7\nhit\n");
    assert_eq!(
        find(&bench, json!({"pattern": "hit", "before": 1, "after": 1})).await,
        "a-2-2\na:3:hit\na-4-4\n--\na-7-7\na:8:hit"
    );
}

#[tokio::test]
async fn hidden_ignored_binary_and_forbidden_files_are_left_out() {
    let bench = Bench::new().forbid(".env");
    std::fs::create_dir(bench.place.directory.join(".git")).unwrap();
    bench.file(".gitignore", "built\n");
    for path in ["seen", "built/a", ".git/config", ".hidden", ".env", "folder/.env"] {
        bench.file(path, "word\n");
    }
    bench.file("binary", b"\0word\n");
    bench.file("wide", crate::tool::text::Encoding::Utf16Le.encode("word\n"));
    let files = json!({"pattern": "word", "output_mode": "files"});
    assert_eq!(find(&bench, files).await, "seen\nwide");
    assert_eq!(find(&bench, json!({"pattern": "word", "path": ".hidden"})).await, ".hidden:1:word");
    assert_eq!(find(&bench, json!({"pattern": "word", "path": ".env"})).await, "No match in 0 files.");
}

#[tokio::test]
async fn results_are_bounded_and_say_so() {
    let bench = Bench::new();
    bench.file("a", "x\n".repeat(1000));
    bench.file("b", "x\n");
    let found = find(&bench, json!({"pattern": "x", "limit": 3})).await;
    assert!(found.starts_with("a:1:x\na:2:x\na:3:x\n[there is more"), "{found}");
    let found = find(&bench, json!({"pattern": "x", "limit": 1, "output_mode": "files"})).await;
    assert!(found.starts_with("a\n[there is more"), "{found}");
    let found = find(&bench, json!({"pattern": "x", "limit": 1000, "path": "a"})).await;
    assert_eq!(found.lines().count(), 1000);
    bench.file("long", format!("{}needle{}\n", "é".repeat(5000), "é".repeat(5000)));
    let found = find(&bench, json!({"pattern": "needle"})).await;
    assert!(found.len() < 600 && found.contains("needleé") && found.contains("…é"), "{found}");
    bench.file("endless", vec![b'y'; 17 << 20]);
    let found = find(&bench, json!({"pattern": "zzz"})).await;
    assert!(found.ends_with("[1 files could not be searched: unreadable, or a line over 16 MB]"), "{found}");
}

#[tokio::test]
async fn the_time_is_linear_whatever_the_pattern() {
    let bench = Bench::new();
    bench.file("a", format!("{}b\n", "a".repeat(1 << 20)));
    assert_eq!(find(&bench, json!({"pattern": "(a+)+$"})).await, "No match in 1 files.");
    assert_eq!(find(&bench, json!({"pattern": "(a|a)*c"})).await, "No match in 1 files.");
}

#[tokio::test]
async fn wrong_inputs_are_named() {
    let bench = Bench::new();
    for (input, words) in [
        (json!({"pattern": "("}), "`pattern`: "),
        (json!({"pattern": ""}), "`pattern` is empty"),
        (json!({"pattern": "a\\nb"}), "`pattern`: "),
        (json!({"pattern": "(?=a)"}), "look-around"),
        (json!({"pattern": "a{1000}{1000}{1000}"}), "`pattern`: "),
        (json!({"pattern": "a", "limit": 0}), "`limit` must be"),
        (json!({"pattern": "a", "glob": "["}), "`glob`: "),
        (json!({"pattern": "a", "output_mode": "all"}), "`output_mode`: unknown variant `all`"),
        (json!({"pattern": "a", "path": "x\0"}), "`path` contains a NUL"),
    ] {
        let error = bench.run(&Grep, input).await.unwrap_err();
        assert!(error.code == "invalid_arguments" && error.message.contains(words), "{words}: {error}");
    }
    assert_eq!(bench.run(&Grep, json!({"pattern": "a", "path": "nowhere"})).await.unwrap_err().code, "not_found");
}
