//! Tests on whole files: each stands for a kind of file that authors really save.

use std::time::{Duration, Instant};

use offshoot_protocol::{PermissionMode, RoleSource, RoleWarning};

use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use super::narrow::effective_tools;
use super::parse::{Origin, Parsed, parse};
use super::{MAX_TURNS, Role};

pub(super) const TOOLS: [&str; 14] = [
    "Read",
    "Write",
    "Edit",
    "Bash",
    "Grep",
    "Glob",
    "TodoWrite",
    "Agent",
    "TaskList",
    "TaskOutput",
    "TaskStop",
    "SendMessage",
    "WebFetch",
    "Commit",
];

macro_rules! samples {
    ($($name:literal),* $(,)?) => {
        /// All sample files: name and bytes.
        pub(super) const FILES: &[(&str, &[u8])] = &[$(($name, include_bytes!(concat!("testdata/", $name, ".md")))),*];
    };
}

samples!(
    "badvalues",
    "bom",
    "camel",
    "cjk",
    "colon",
    "crlf",
    "empty",
    "fork",
    "ghosts",
    "latin1",
    "laughs",
    "multiline",
    "nodescription",
    "noname",
    "notools",
    "plain",
    "roundtrip",
    "scalars",
    "twins-a",
    "twins-b",
    "unclosed",
);

pub(super) fn sample(name: &str) -> &'static [u8] {
    FILES.iter().find(|(other, _)| *other == name).unwrap().1
}

pub(super) fn origin() -> Origin {
    Origin { source: RoleSource::User, path: "/roles/x.md".to_owned() }
}

fn read(bytes: impl AsRef<[u8]>) -> Parsed {
    parse(bytes.as_ref(), &origin(), &TOOLS)
}

/// A role that loads without a word.
fn clean(bytes: impl AsRef<[u8]>) -> Role {
    let parsed = read(bytes);
    assert_eq!(parsed.warnings, []);
    parsed.role.unwrap()
}

/// The one warning of a file that doesn't load: its line and message.
fn refused(bytes: impl AsRef<[u8]>) -> (u32, String) {
    let parsed = read(bytes);
    assert_eq!(parsed.role, None);
    let [RoleWarning { path, line, message }] = parsed.warnings.as_slice() else { panic!("{:?}", parsed.warnings) };
    assert_eq!(path, "/roles/x.md");
    assert!(message.starts_with("not loaded: "), "{message}");
    (*line, message.clone())
}

/// Lines and messages of a role that loads.
fn warned(bytes: impl AsRef<[u8]>) -> (Role, Vec<(u32, String)>) {
    let parsed = read(bytes);
    (parsed.role.unwrap(), parsed.warnings.into_iter().map(|warning| (warning.line, warning.message)).collect())
}

/// Random tests that are the same at every run.
pub(super) fn seeded(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() }
}

/// A file whose front matter has one more entry.
fn with(entry: &str) -> String {
    format!("---\nname: x\ndescription: d\n{entry}\n---\nBody.\n")
}

#[test]
fn files_as_authors_save_them_load_without_a_word() {
    assert_eq!(clean(sample("bom")).description, "Starts with a byte-order mark.");
    let crlf = clean(sample("crlf"));
    assert_eq!(crlf.description, "Use when: the file has CRLF and a colon");
    assert_eq!(crlf.tools.unwrap(), ["Read", "Grep"]);
    assert_eq!(crlf.body, "Body line one.\nBody line two.");
    assert_eq!(clean(sample("colon")).description, "Use when: reviewing \"x\": y");
    let multiline = clean(sample("multiline"));
    assert_eq!(multiline.description, "First line of the description and its second line.");
    assert_eq!(multiline.tools.unwrap(), ["Read", "Bash(git diff *)"]);
    let cjk = clean(sample("cjk"));
    assert_eq!((cjk.name.as_str(), cjk.body.as_str()), ("审阅者", "你是审阅者。"));
    let camel = clean(sample("camel"));
    assert_eq!(camel.max_turns, Some(7));
    assert_eq!(camel.permission, Some(PermissionMode::Plan));
    assert_eq!(camel.disallowed_tools, ["Write", "Edit"]);
    let roundtrip = clean(sample("roundtrip"));
    assert_eq!((roundtrip.name.as_str(), roundtrip.description.as_str()), ("roundtrip", "Quoted, with: colon"));
    assert_eq!(roundtrip.tools.unwrap(), ["Read", "Grep"]);
}

#[test]
fn scalars_are_what_their_author_means() {
    let (role, warnings) = warned(sample("scalars"));
    assert_eq!(role.description, "yes");
    assert_eq!(role.model.as_deref(), Some("3000"));
    assert_eq!(role.color, None);
    let [(4, message)] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert!(message.contains("3000") && message.contains("unknown"), "{message}");
}

#[test]
fn files_that_are_no_role_say_where_and_why() {
    for (file, line, word) in [
        ("unclosed", 1, "never ends"),
        ("noname", 1, "`name` is missing"),
        ("nodescription", 1, "`description` is missing"),
        ("plain", 1, "no front matter"),
        ("empty", 1, "empty"),
        ("fork", 2, "reserved"),
        ("latin1", 3, "byte 17 of line 3"),
    ] {
        let (at, message) = refused(sample(file));
        assert_eq!(at, line, "{file}: {message}");
        assert!(message.contains(word), "{file}: {message}");
    }
}

#[test]
fn an_empty_list_of_tools_is_no_tools_and_cannot_start() {
    for file in [sample("notools").to_vec(), with("tools:").into_bytes(), with("tools: \"\"").into_bytes()] {
        let (role, warnings) = warned(file);
        assert_eq!(role.tools.as_deref(), Some(&[][..]));
        assert_eq!(warnings[0].0, 4);
        let error = effective_tools(&TOOLS, &role, false).unwrap_err();
        assert!(error.to_string().contains("empty list"), "{error}");
    }
}

#[test]
fn tools_that_do_not_exist_are_named_with_their_line() {
    let (role, warnings) = warned(sample("ghosts"));
    assert_eq!(effective_tools(&TOOLS, &role, false).unwrap().tools, ["Read"]);
    assert!(matches!(warnings.as_slice(), [(4, message)] if message.contains("`Telepathy`")), "{warnings:?}");

    let (_, warnings) = warned(with("disallowed_tools:\n  - Edit\n  # later\n  - bash"));
    assert!(matches!(warnings.as_slice(), [(7, message)] if message.contains("mean `Bash`")), "{warnings:?}");
}

#[test]
fn bad_values_fall_to_their_defaults_each_with_its_line() {
    let (role, warnings) = warned(sample("badvalues"));
    assert_eq!((role.max_turns, role.permission, role.model), (None, None, None));
    assert_eq!(role.isolation, offshoot_protocol::Isolation::Shared);
    let lines: Vec<u32> = warnings.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [4, 5, 6, 7], "{warnings:?}");
    assert!(warnings[0].1.contains(&MAX_TURNS.to_string()));
}

#[test]
fn a_billion_laughs_are_refused_at_once() {
    let start = Instant::now();
    let (line, message) = refused(sample("laughs"));
    assert_eq!(line, 2);
    assert!(message.contains("anchors"), "{message}");
    assert!(start.elapsed() < Duration::from_millis(100));
}

#[test]
fn descriptions_that_are_no_yaml_are_taken_as_words() {
    for (written, meant) in [
        ("[WIP] does things", "[WIP] does things"),
        ("[WIP]", "[WIP]"),
        ("*Important* note", "*Important* note"),
        ("@reviewer's friend", "@reviewer's friend"),
        ("`cargo` expert: fast", "`cargo` expert: fast"),
        ("- a dash", "- a dash"),
        ("> not a block", "> not a block"),
        ("\"Quoted\" and more", "\"Quoted\" and more"),
        ("'It's broken'", "It's broken"),
        ("!important stuff", "!important stuff"),
        ("{a}", "{a}"),
        ("null", "null"),
        ("no", "no"),
        ("1.10", "1.10"),
        ("Fixes: issue #12, and", "Fixes: issue #12, and"),
        ("Use when: x # a comment", "Use when: x"),
        ("\n  Use when: x\n  or: y\n\n  New: paragraph", "Use when: x or: y\nNew: paragraph"),
        ("|\n  First: line\n  second\n  # heading", "First: line\nsecond\n# heading"),
        ("Use when: x\n  # a comment\n  y # another\n  # a third", "Use when: x y"),
        (">-\n  folded\n  text # kept", "folded text # kept"),
        ("\n\tindented: by tab", "indented: by tab"),
    ] {
        for line_ending in ["\n", "\r\n"] {
            let file =
                format!("---\nname: x\ndescription: {written}\nmodel: sonnet\n---\nB").replace('\n', line_ending);
            let role = clean(file);
            assert_eq!(role.description, meant, "{written:?}");
            assert_eq!(role.model.as_deref(), Some("sonnet"), "{written:?}");
        }
    }
}

#[test]
fn what_cannot_be_understood_is_refused_with_its_line() {
    for (entry, line, word) in [
        ("junk", 4, "expected `key: value`"),
        ("model: a\njunk", 5, "expected `key: value`"),
        ("x: \"open\ny: z", 4, "never closed"),
        ("x: &a b", 4, "anchors"),
        ("x: *a", 4, "aliases"),
        ("x:\n  - *a", 5, "aliases"),
        ("tools: {a: b}", 4, "must be a list"),
        ("disallowed_tools:\n  Bash: no", 4, "must be a list"),
    ] {
        let (at, message) = refused(with(entry));
        assert_eq!(at, line, "{entry}: {message}");
        assert!(message.contains(word), "{entry}: {message}");
    }
    let deep = format!("x: {}", "[".repeat(100));
    assert!(refused(with(&deep)).1.contains("deep"));
}

#[test]
fn lists_in_every_style_that_authors_use() {
    for list in [
        "tools: Read, Bash(git log a, b), Grep",
        "tools: \"Read, Bash(git log a, b), Grep\"",
        "tools: Read,\n  Bash(git log a, b),\n  Grep",
        "tools: [Read, Bash(git log a, b), Grep]",
        "tools: [\n  Read, # first\n  Bash(git log a, b),\n  Grep,\n  ]",
        "tools: [Read, 'Bash(git log a, b)', \"Grep\"]",
        "tools: [\n  Read,\n  Bash(git log a, b),\n  Grep\n]",
        "tools: [\nRead,\nBash(git log a, b), # c\nGrep,\n] # c",
        "tools:\n- Read\n- Bash(git log a, b)\n- Grep",
        "tools:\n  - Read # first\n  - Bash(git log a, b)\n\n  - 'Grep'",
        "tools:\n\t- Read\n\t- Bash(git log a, b)\n\t- Grep",
    ] {
        assert_eq!(clean(with(list)).tools.unwrap(), ["Read", "Bash(git log a, b)", "Grep"], "{list}");
    }
    for list in ["tools: [Bash(rm {a,b})]", "tools: Bash(rm {a,b})", "tools:\n  - Bash(rm {a,b})"] {
        assert_eq!(clean(with(list)).tools.unwrap(), ["Bash(rm {a,b})"], "{list}");
    }
    assert_eq!(clean(with("tools:\n  - Bash(x: y)")).tools.unwrap(), ["Bash(x: y)"]);
    for all in ["tools: '*'", "tools: *", "tools: [\"*\"]", "tools: null", "tools: ~"] {
        assert_eq!(clean(with(all)).tools, None, "{all}");
    }
    assert_eq!(clean(with("tools: [mcp__db__query, mcp__other]")).tools.unwrap().len(), 2);
}

#[test]
fn keys_twice_and_misspelt_keys_are_told() {
    let (role, warnings) = warned(with("max_turns: 3\nmaxTurns: 9"));
    assert_eq!(role.max_turns, Some(3));
    assert!(matches!(warnings.as_slice(), [(5, message)] if message.contains("line 4")), "{warnings:?}");
    let (_, warnings) = warned(with("disalowed_tools: [Bash]\nx_custom: 1\nhooks: {}"));
    let lines: Vec<u32> = warnings.iter().map(|(line, _)| *line).collect();
    assert_eq!(lines, [4, 6], "{warnings:?}");
    assert!(warnings[0].1.contains("`disallowed_tools`"));
}

#[test]
fn a_comment_that_cuts_a_description_is_told() {
    let (role, warnings) = warned("---\nname: x\ndescription: Handles issue #12 and more\n---\nB");
    assert_eq!(role.description, "Handles issue");
    assert_eq!(warnings[0].0, 3);
}

#[test]
fn plugins_set_no_permission_hooks_or_servers() {
    let file = with("permission: bypass\nhooks: {}\nmcpServers: {}\ntools: [Read, Bash(rm *)]");
    let plugin = Origin { source: RoleSource::Plugin, path: "p".to_owned() };
    let parsed = parse(file.as_bytes(), &plugin, &TOOLS);
    let role = parsed.role.unwrap();
    assert_eq!(role.permission, None);
    assert_eq!(parsed.warnings.iter().map(|warning| warning.line).collect::<Vec<_>>(), [4, 5, 6, 7]);
    let tools = effective_tools(&TOOLS, &role, false).unwrap();
    assert_eq!(tools.tools, ["Read", "Bash"]);
    assert!(tools.allow_rules.is_empty(), "a plugin doesn't allow");
}

#[test]
fn warnings_are_bounded_and_harmless() {
    let (_, warnings) = warned(with(&format!("tools: [{}]", "\"\\e[31mX\\n\", ".repeat(100))));
    assert_eq!(warnings.len(), 33);
    assert!(warnings.iter().all(|(_, message)| !message.contains(char::is_control)));
}

mod hostile {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(seeded(512))]

        #[test]
        fn no_text_makes_the_parser_panic(front in "([a-z_]{1,4}|tools|description|[:#\\-\\[\\]{}\"'&*!|>%@`,?()]|[ \t\n]|\r\n|é|\u{feff}|\u{2028}|\0){0,60}") {
            let _ = read(format!("---\n{front}\n---\nB"));
        }

        #[test]
        fn no_bytes_make_the_parser_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
        }
    }

    #[test]
    fn long_front_matter_is_read_in_time() {
        for piece in ["x: y\n", "- a\n", "[", "? ", "'", "é, ", "("] {
            for head in ["tools: [", "tools:\n  "] {
                let filler = piece.repeat(60_000 / piece.len());
                let start = Instant::now();
                let _ = read(format!("---\nname: x\n{head}{filler}\n---\nB"));
                let took = start.elapsed();
                assert!(took < Duration::from_secs(5), "{head:?} {piece:?}: {took:?}");
            }
        }
    }
}
