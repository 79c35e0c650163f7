use std::collections::BTreeSet;

use offshoot_protocol::{Isolation, PermissionMode, RoleSource};
use proptest::prelude::*;

use super::super::layout::Layout;
use super::super::parse::{Origin, parse};
use super::super::samples::{FILES, sample, seeded};
use super::*;

fn changed(original: impl AsRef<[u8]>, changes: &RoleEdit) -> String {
    String::from_utf8(edit(original.as_ref(), changes).unwrap()).unwrap()
}

fn tools(list: &[&str]) -> RoleEdit {
    RoleEdit { tools: Change::Set(strings(list)), ..RoleEdit::default() }
}

fn strings(list: &[&str]) -> Vec<String> {
    list.iter().map(|entry| (*entry).to_owned()).collect()
}

fn with(entry: &str) -> String {
    format!("---\nname: x\ndescription: d\n{entry}\n---\nB")
}

/// What becomes of one entry, with everything around it as it was.
fn entry(before: &str, changes: &RoleEdit) -> String {
    let after = changed(with(before), changes);
    let inside = after.strip_prefix("---\nname: x\ndescription: d\n").and_then(|rest| rest.strip_suffix("---\nB"));
    inside.unwrap_or_else(|| panic!("{after}")).trim_end_matches('\n').to_owned()
}

#[test]
fn only_the_tools_change_in_the_sample() {
    let after = changed(sample("roundtrip"), &tools(&["Read", "Grep", "Bash(git diff *)"]));
    let before = String::from_utf8(sample("roundtrip").to_vec()).unwrap();
    assert_eq!(after, before.replace("[ Read,   Grep ]", "[ Read,   Grep,   Bash(git diff *) ]"));
    assert_eq!(changed(&after, &tools(&["Read", "Grep"])), before, "and back");
    let after = changed(sample("roundtrip"), &tools(&["Grep"]));
    assert_eq!(after, before.replace("[ Read,   Grep ]", "[ Grep ]"));
}

#[test]
fn nothing_asked_for_changes_nothing() {
    for (name, bytes) in FILES {
        if let Ok(after) = edit(bytes, &RoleEdit::default()) {
            assert_eq!(&after, bytes, "{name}");
        }
    }
}

#[test]
fn what_is_already_so_changes_no_byte() {
    let file = "---\nname: 'x'\ndescription: >\n  a\n  b\ntools: 'Read,Grep'\ndisallowedTools:\n- Edit\nmodel:   \"o\"\nmaxTurns: '7'\n\
                permissionMode: acceptEdits\nbackground: yes\nisolation: Worktree\ncolor: Grey\n---\n\n B\r\nC \n";
    let same = RoleEdit {
        name: Change::Set("x".into()),
        description: Change::Set("a b".into()),
        tools: Change::Set(strings(&["Read", "Grep"])),
        disallowed_tools: Change::Set(strings(&["Edit"])),
        model: Change::Set("o".into()),
        max_turns: Change::Set(7),
        permission: Change::Set(PermissionMode::AcceptEdits),
        background: Change::Set(true),
        isolation: Change::Set(Isolation::Worktree),
        color: Change::Set("gray".into()),
        without_instructions: Change::Set(false),
        body: Some("B\nC".into()),
    };
    assert_eq!(changed(file, &same), file);
    let absent = RoleEdit {
        disallowed_tools: Change::Set(Vec::new()),
        background: Change::Set(false),
        isolation: Change::Set(Isolation::Shared),
        color: Change::Remove,
        ..tools(&["*"])
    };
    assert_eq!(changed(with("x: y"), &absent), with("x: y"));
}

#[test]
fn lists_keep_their_style() {
    let two = tools(&["Grep", "Bash(git log a, b)"]);
    for (before, after) in [
        ("tools: Read, Grep # c", "tools: Grep, Bash(git log a, b) # c"),
        ("tools: \"Read,Grep\"", "tools: \"Grep,Bash(git log a, b)\""),
        ("tools: Read,\n  Grep", "tools: Grep,\n  Bash(git log a, b)"),
        ("tools: [Read,Grep] # c", "tools: [Grep,\"Bash(git log a, b)\"] # c"),
        ("tools: [\n  Read, # r\n  Grep, # g\n  ]", "tools: [\n  Grep,\n  \"Bash(git log a, b)\", # g\n  ]"),
        ("tools: [\n  Read,\n  Grep\n]", "tools: [\n  Grep,\n  \"Bash(git log a, b)\"\n]"),
        ("tools:\n- Read\n- Grep", "tools:\n- Grep\n- Bash(git log a, b)"),
        (
            "tools:  # c\n  - Read # r\n  # about g\n  - 'Grep' # g",
            "tools:  # c\n  # about g\n  - 'Grep' # g\n  - Bash(git log a, b)",
        ),
        ("tools:", "tools: [Grep, \"Bash(git log a, b)\"]"),
        ("tools: # c", "tools: [Grep, \"Bash(git log a, b)\"] # c"),
        ("tools: null", "tools: Grep, Bash(git log a, b)"),
        ("tools: []", "tools: [Grep, \"Bash(git log a, b)\"]"),
        ("tools: |\n  Read, Grep", "tools: [Grep, \"Bash(git log a, b)\"]"),
    ] {
        assert_eq!(entry(before, &two), after, "{before}");
    }
    for (before, after) in [
        ("tools: Read, Grep # c", "tools: [] # c"),
        ("tools: [Read]", "tools: []"),
        ("tools: # c\n  - Read\n  - Grep", "tools: [] # c"),
    ] {
        assert_eq!(entry(before, &tools(&[])), after, "{before}");
    }
}

#[test]
fn lists_move_and_grow_in_the_middle() {
    for (before, list, after) in [
        ("tools: A, B, C", &["C", "A", "B"][..], "tools: C, A, B"),
        ("tools: [A, B, C]", &["A", "X", "C"], "tools: [A, X, C]"),
        ("tools:\n  - A # a\n  - B # b", &["X", "A", "Z", "B"], "tools:\n  - X\n  - A # a\n  - Z\n  - B # b"),
        ("tools: [A]", &["B"], "tools: [B]"),
        ("tools: A", &["Bash(x: y)", "A"], "tools: [\"Bash(x: y)\", A]"),
        ("tools: '*'", &["A", "B"], "tools: 'A, B'"),
        ("tools: 'A'", &["A", "Bash(echo 'x')"], "tools: [A, Bash(echo 'x')]"),
    ] {
        assert_eq!(entry(before, &tools(list)), after, "{before}");
    }
}

#[test]
fn new_entries_stand_where_they_usually_do_in_the_files_own_spelling() {
    let edit = RoleEdit {
        max_turns: Change::Set(9),
        permission: Change::Set(PermissionMode::AcceptEdits),
        model: Change::Set("3000".into()),
        ..tools(&["Read", "Grep"])
    };
    assert_eq!(
        entry("color: red", &edit),
        "tools: [Read, Grep]\nmodel: \"3000\"\nmax_turns: 9\npermission: accept-edits\ncolor: red"
    );
    assert_eq!(
        entry("disallowedTools: Edit", &edit),
        "tools: Read, Grep\ndisallowedTools: Edit\nmodel: \"3000\"\nmaxTurns: 9\npermissionMode: acceptEdits"
    );
    assert_eq!(entry("disallowed_tools:\n - Edit", &tools(&["Read"])), "tools:\n - Read\ndisallowed_tools:\n - Edit");
    let named = RoleEdit { name: Change::Set("yes".into()), ..RoleEdit::default() };
    assert_eq!(changed(sample("noname"), &named), "---\nname: \"yes\"\ndescription: No name.\n---\nBody.\n");
}

#[test]
fn texts_keep_their_quotes_and_lines() {
    let describe = |text: &str| RoleEdit { description: Change::Set(text.into()), ..RoleEdit::default() };
    for (before, text, after) in [
        ("description: old # c", "new", "description: new # c"),
        ("description: 'old'", "it's: new", "description: 'it''s: new'"),
        ("description: \"old\" # c", "a \"b\"", "description: \"a \\\"b\\\"\" # c"),
        ("description: old", "Use when: x", "description: \"Use when: x\""),
        ("description: Use when: x", "Use it", "description: Use it"),
        ("description:\n  old\n  more", "new", "description:\n  new"),
        ("description: |\n    old\n    more", "a\n\nb: c", "description: |-\n    a\n\n    b: c"),
        ("description: old", "a\nb", "description: \"a\\nb\""),
        ("description: [WIP] x", "x", "description: x"),
    ] {
        let before = format!("---\nname: x\n{before}\nmodel: o\n---\nB");
        let wanted = format!("---\nname: x\n{after}\nmodel: o\n---\nB");
        assert_eq!(changed(&before, &describe(text)), wanted, "{before}");
        let crlf = wanted.replace('\n', "\r\n");
        assert_eq!(changed(before.replace('\n', "\r\n"), &describe(text)), crlf, "{before}");
    }
}

#[test]
fn bad_values_are_replaced_and_twins_removed() {
    let edit = RoleEdit {
        max_turns: Change::Set(3),
        isolation: Change::Remove,
        permission: Change::Set(PermissionMode::Plan),
        model: Change::Set("opus".into()),
        ..RoleEdit::default()
    };
    assert_eq!(
        changed(sample("badvalues"), &edit),
        "---\nname: badvalues\ndescription: Values out of range.\nmax_turns: 3\npermission: plan\nmodel: opus\n---\nBody.\n"
    );
    let remove = RoleEdit { max_turns: Change::Remove, ..RoleEdit::default() };
    assert_eq!(entry("max_turns: 3\ncolor: red\nmaxTurns: 9", &remove), "color: red");
}

#[test]
fn what_no_role_can_have_is_refused_and_what_is_damaged_is_never_written() {
    let refused = |changes: &RoleEdit| edit(with("x: y").as_bytes(), changes).unwrap_err().to_string();
    let named = |name: &str| RoleEdit { name: Change::Set(name.into()), ..RoleEdit::default() };
    assert!(refused(&named("Fork")).contains("reserved"));
    assert!(refused(&named("")).contains("missing"));
    assert!(refused(&RoleEdit { max_turns: Change::Set(201), ..RoleEdit::default() }).contains("200"));
    assert!(refused(&tools(&["Bash(x"])).contains("`Bash(x`"));
    assert!(refused(&tools(&["A\nmodel: b"])).contains("tools"));
    assert!(refused(&RoleEdit { description: Change::Remove, ..RoleEdit::default() }).contains("no longer be a role"));
    for file in ["latin1", "laughs", "plain", "unclosed", "empty"] {
        assert!(matches!(edit(sample(file), &named("y")), Err(EditError::Unreadable { .. })), "{file}");
    }
}

#[test]
fn a_byte_order_mark_and_line_endings_stay() {
    let after = changed(sample("bom"), &RoleEdit { color: Change::Set("teal".into()), ..RoleEdit::default() });
    assert!(after.starts_with("\u{feff}---\nname: bom\n"), "{after:?}");
    let after = changed(sample("crlf"), &RoleEdit { body: Some("One.\nBody line two.".into()), ..tools(&["Grep"]) });
    let before = String::from_utf8(sample("crlf").to_vec()).unwrap();
    assert_eq!(after, before.replace("Read, Grep", "Grep").replace("Body line one.", "One."));
}

fn change<T: std::fmt::Debug + Clone + 'static>(set: impl Strategy<Value = T> + 'static) -> BoxedStrategy<Change<T>> {
    prop_oneof![3 => Just(Change::Keep), 1 => Just(Change::Remove), 3 => set.prop_map(Change::Set)].boxed()
}

fn words() -> impl Strategy<Value = String> {
    "([A-Za-z审é]{1,6}|[:#'\"\\\\,*&!|>%@`{}\\[\\]-]| |\n|\t|yes|null|12|: | #|\u{feff}|\u{85}|\u{2028}|\u{1b}){1,8}"
        .prop_filter("it must say something", |text| !text.trim().is_empty())
}

fn tool() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "(Read|Grep|Write|Edit|mcp__db__x|Bash)",
        2 => "Bash\\([a-z]{1,4}( [a-z*:,#'\"{}\\[\\]\\\\(-]{1,4}){1,3}\\)",
    ]
}

fn any_edit() -> impl Strategy<Value = RoleEdit> {
    let modes =
        prop_oneof![Just(PermissionMode::Plan), Just(PermissionMode::AcceptEdits), Just(PermissionMode::Default)];
    let lists = || change(proptest::collection::vec(tool(), 0..5));
    (
        (change("[a-z]{1,5}"), change(words()), lists(), lists(), change("[a-z0-9.-]{1,9}"), change(1_u32..=200)),
        (change(modes), change(any::<bool>()), change(Just(Isolation::Worktree)), change("(teal|red|gray)")),
        proptest::option::weighted(0.3, words()),
    )
        .prop_map(
            |(
                (name, description, tools, disallowed_tools, model, max_turns),
                (permission, background, isolation, color),
                body,
            )| {
                RoleEdit {
                    name,
                    description,
                    tools,
                    disallowed_tools,
                    model,
                    max_turns,
                    permission,
                    background,
                    isolation,
                    color,
                    body,
                    without_instructions: Change::Keep,
                }
            },
        )
}

/// More shapes than the samples have.
fn files() -> Vec<Vec<u8>> {
    let more = [
        "\u{feff}---\r\n# c\r\nname: \"x\"  # n\r\ndescription: >-\r\n  folded\r\n  text\r\n\r\n# between\r\ntools:\r\n  - Read # r\r\n\r\n  # g\r\n  - 'Grep'\r\n# end\r\n---\r\n\r\nB\r\nC",
        "---\nname: x\ndescription: |\n  a\n  b\ntools: [\n  Read, # r\n  \"Bash(git log a, b)\",\n  ]\ndisallowedTools: \"Write,Edit\"\npermissionMode: acceptEdits\nbackground: yes\n---",
        "\n\n---\ndescription: Use when: y\nname: x\nx: [1, {a: b}]\ntools:\n- Read\n-   Grep\ncolor: red\nmax_turns: '5'\nmaxTurns: 6\n---  \nB\n---\n",
        "---\nname: é\ndescription: 'é''s'\ntools: Read,\n  Grep,\n  Bash(é)\nmodel:\nisolation: worktree # w\n---\n\nB\r\nC\n",
    ];
    FILES.iter().map(|(_, bytes)| bytes.to_vec()).chain(more.map(|text| text.as_bytes().to_vec())).collect()
}

/// Everything of a file but the entries of `keys` and, perhaps, the prompt.
fn rest(bytes: &[u8], keys: &BTreeSet<Key>, body: bool) -> String {
    let text = std::str::from_utf8(bytes).unwrap();
    let layout = Layout::of(text).unwrap();
    let mut out = String::new();
    let mut at = 0;
    for entry in layout.entries.iter().filter(|entry| Key::of(&entry.key).is_some_and(|key| keys.contains(&key))) {
        out.push_str(&text[at..entry.lines.start]);
        at = entry.lines.end;
    }
    out.push_str(&text[at..layout.body.start]);
    if body { out.trim_end().to_owned() } else { out + &text[layout.body] }
}

proptest! {
    #![proptest_config(seeded(256))]

    #[test]
    fn random_edits_say_what_was_asked_for_and_keep_every_other_byte(file in 0..files().len(), edit_ in any_edit()) {
        let original = &files()[file];
        let Ok(after) = edit(original, &edit_) else { return Ok(()) };
        let keys: BTreeSet<Key> = Key::ALL.into_iter().filter(|key| match key {
            Key::Name => edit_.name != Change::Keep,
            Key::Description => edit_.description != Change::Keep,
            Key::Tools => edit_.tools != Change::Keep,
            Key::DisallowedTools => edit_.disallowed_tools != Change::Keep,
            Key::Model => edit_.model != Change::Keep,
            Key::MaxTurns => edit_.max_turns != Change::Keep,
            Key::Permission => edit_.permission != Change::Keep,
            Key::Background => edit_.background != Change::Keep,
            Key::Isolation => edit_.isolation != Change::Keep,
            Key::Color => edit_.color != Change::Keep,
            Key::WithoutInstructions => false,
        }).collect();
        let body = edit_.body.is_some();
        prop_assert_eq!(rest(original, &keys, body), rest(&after, &keys, body));
        // A second time, everything is already so.
        prop_assert_eq!(edit(&after, &edit_).unwrap(), after.clone());
        let origin = Origin { source: RoleSource::User, path: String::new() };
        if let Some(role) = parse(&after, &origin, &[]).role {
            if let Change::Set(description) = &edit_.description {
                prop_assert_eq!(role.description.as_str(), description.trim());
            }
            if let Change::Set(tools) = &edit_.tools {
                prop_assert_eq!(role.tools.as_ref(), Some(tools));
            }
            if let Some(body) = &edit_.body {
                prop_assert_eq!(role.body.as_str(), body.trim());
            }
        }
    }

    #[test]
    fn hardly_any_edit_of_a_role_is_refused(file in 0..files().len(), edit_ in any_edit()) {
        let original = &files()[file];
        let origin = Origin { source: RoleSource::User, path: String::new() };
        let is_role = parse(original, &origin, &[]).role.is_some();
        let stays = edit_.name != Change::Remove && edit_.description != Change::Remove;
        if is_role && stays {
            let result = edit(original, &edit_);
            prop_assert!(!matches!(result, Err(EditError::NotKept { .. })), "{result:?}");
        }
    }
}
