use super::*;

/// The text after adding `rules` to a file with the text `old`.
fn added(old: &str, rules: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.local.json");
    fs::write(&path, old).unwrap();
    let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
    add_allow_rules(&path, &rules).unwrap();
    fs::read_to_string(&path).unwrap()
}

fn error(old: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.local.json");
    fs::write(&path, old).unwrap();
    let error = add_allow_rules(&path, &["Bash(ls)".to_owned()]).unwrap_err().to_string();
    assert_eq!(fs::read_to_string(&path).unwrap(), old, "it was touched");
    error
}

#[test]
fn a_new_file_has_a_folder_and_is_ignored_by_git() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".offshoot/settings.local.json");
    assert_eq!(add_allow_rules(&path, &["Bash(npm run test *)".to_owned()]).unwrap(), 1);
    insta::assert_snapshot!(fs::read_to_string(&path).unwrap(), @r#"
    {
      "permissions": {
        "allow": [
          "Bash(npm run test *)"
        ]
      }
    }
    "#);
    assert_eq!(fs::read_to_string(folder.path().join(".offshoot/.gitignore")).unwrap(), "settings.local.json\n");
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn an_existing_gitignore_gets_a_line_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.local.json");
    fs::write(folder.path().join(".gitignore"), "a").unwrap();
    for _ in 0..2 {
        add_allow_rules(&path, &["Bash".to_owned()]).unwrap();
        fs::remove_file(&path).unwrap();
    }
    assert_eq!(fs::read_to_string(folder.path().join(".gitignore")).unwrap(), "a\nsettings.local.json\n");
}

#[test]
fn every_other_byte_stays() {
    let old = "\u{feff}{\r\n\t\"x\" : [1,2 ],\r\n\t\"permissions\":{\r\n\t\t\"allow\" : [\r\n\t\t\t\"Bash(a)\" ] ,\r\n\t\t\"deny\":[]\r\n\t},  \"z\": {}\r\n}";
    let new = added(old, &["Bash(b \"c\")", "Bash(a)", "Bash(b \"c\")"]);
    assert_eq!(new, old.replace("\"Bash(a)\"", "\"Bash(a)\",\r\n\t\t\t\"Bash(b \\\"c\\\")\""));
}

#[test]
fn styles_are_continued() {
    for (old, new) in [
        (r#"{"permissions":{"allow":["a"]}}"#, r#"{"permissions":{"allow":["a", "n", "m"]}}"#),
        (r#"{"permissions":{"deny":["a"]}}"#, r#"{"permissions":{"deny":["a"], "allow": ["n","m"]}}"#),
        (r#"{"x":1}"#, r#"{"x":1, "permissions": {"allow":["n","m"]}}"#),
        (
            "{\n    \"permissions\": {}\n}\n",
            "{\n    \"permissions\": {\n        \"allow\": [\n            \"n\",\n            \"m\"\n        ]\n    }\n}\n",
        ),
        (
            "{\n    \"permissions\": {\n        \"allow\": [],\n        \"x\": 1\n    }\n}\n",
            "{\n    \"permissions\": {\n        \"allow\": [\n            \"n\",\n            \"m\"\n        ],\n        \"x\": 1\n    }\n}\n",
        ),
        (
            "{\n \"permissions\": {\n  \"allow\": [\"a\"]\n }\n}",
            "{\n \"permissions\": {\n  \"allow\": [\"a\", \"n\", \"m\"]\n }\n}",
        ),
        (
            "{\n  \"x\": {\n  }\n}\n",
            "{\n  \"x\": {\n  },\n  \"permissions\": {\n    \"allow\": [\n      \"n\",\n      \"m\"\n    ]\n  }\n}\n",
        ),
        (" \n", "{\n  \"permissions\": {\n    \"allow\": [\n      \"n\",\n      \"m\"\n    ]\n  }\n}\n"),
    ] {
        assert_eq!(added(old, &["n", "m"]), new, "{old}");
    }
}

#[test]
fn what_is_there_already_is_not_written_again() {
    let old = r#"{ "permissions" : { "allow" : [ "a" ] } }"#;
    assert_eq!(added(old, &["a"]), old);
}

#[test]
fn what_is_not_understood_is_not_touched() {
    let syntax = error("{\n  \"a\": 1,\n}");
    assert!(syntax.contains("not changed") && syntax.contains("line 3, column 1"), "{syntax}");
    assert!(error("[]").contains("must be an object, not a list"));
    assert!(error("{\n\"permissions\": []}").contains(":2 was not changed: `permissions` must be an object"));
    assert!(error(r#"{"permissions":{"allow":"Bash"}}"#).contains("`allow` must be a list, not a text"));
    assert!(error(&" ".repeat(1 << 21)).contains("1024 KiB"));
}

#[cfg(unix)]
#[test]
fn links_are_not_followed_and_permissions_are_kept() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.json"), folder.path().join("settings.local.json"));
    fs::write(&real, "{}").unwrap();
    symlink(&real, &link).unwrap();
    let rules = ["Bash".to_owned()];
    assert!(add_allow_rules(&link, &rules).unwrap_err().to_string().contains("is a link"));
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");
    symlink(folder.path(), folder.path().join(".offshoot")).unwrap();
    assert!(add_allow_rules(&folder.path().join(".offshoot/x.json"), &rules).is_err());

    fs::set_permissions(&real, Permissions::from_mode(0o640)).unwrap();
    add_allow_rules(&real, &rules).unwrap();
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn writers_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("settings.local.json");
    std::thread::scope(|scope| {
        for writer in 0..8 {
            let path = &path;
            scope.spawn(move || add_allow_rules(path, &[format!("Bash(w{writer})")]).unwrap());
        }
    });
    let value: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(value["permissions"]["allow"].as_array().unwrap().len(), 8);
}

proptest::proptest! {
    #[test]
    fn any_layout_keeps_its_content(
        space in proptest::collection::vec("[ \n\t]{0,3}", 12),
        items in 0_usize..3,
    ) {
        let list: Vec<String> = (0..items).map(|n| format!("{}\"r{n}\"{}", space[0], space[1])).collect();
        let old = format!(
            "{}{{{}\"permissions\"{}:{}{{{}\"allow\":{}[{}{}]{}}}{}}}",
            space[2], space[3], space[4], space[5], space[6], space[7], list.join(","), space[8], space[9], space[10],
        );
        let new: Value = serde_json::from_str(&with_rules(Path::new("/s"), old.clone(), &["n".into()]).unwrap().0).unwrap();
        let mut right: Value = serde_json::from_str(&old).unwrap();
        right["permissions"]["allow"].as_array_mut().unwrap().push("n".into());
        proptest::prop_assert_eq!(new, right);
    }
}
