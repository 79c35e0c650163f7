use std::fs;

use offshoot_protocol::{Isolation, LineKind, PermissionMode};
use tempfile::TempDir;

use super::super::samples::{FILES, TOOLS};
use super::*;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        let home = Self(tempfile::tempdir().unwrap());
        fs::create_dir_all(home.path("project/.git")).unwrap();
        home
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    fn studio(&self) -> Studio {
        let folders = RoleFolders {
            user: Some(self.path("config/roles")),
            plugins: Some(self.path("config/plugins")),
            project: Some(self.path("project")),
            trusted: true,
        };
        Studio::new(folders, TOOLS.map(|tool| (tool, "Does things.\nMore.")), self.path("data/deleted-roles"))
    }
}

fn role(name: &str) -> String {
    format!("---\nname: {name}\ndescription: d\n---\nB\n")
}

fn saved(save: RoleSave) -> RoleFile {
    match save {
        RoleSave::Saved { file } => file,
        RoleSave::Conflict { now } => panic!("conflict: {now:?}"),
    }
}

#[test]
fn every_sample_shows_its_problem_on_its_card() {
    let home = Home::new();
    for (name, bytes) in FILES {
        home.write(&format!("config/roles/{name}.md"), bytes);
    }
    let board = home.studio().board();
    assert_eq!(board.warnings, [], "every problem is some card's");
    for (name, _) in FILES {
        let card = board.cards.iter().find(|card| card.path.ends_with(&format!("/{name}.md"))).unwrap();
        assert!(card.editable);
        let is_fine = ["bom", "camel", "cjk", "colon", "crlf", "multiline", "roundtrip"].contains(name);
        assert_eq!(card.warnings.is_empty(), is_fine, "{name}: {:?}", card.warnings);
        let is_no_role =
            ["empty", "fork", "latin1", "laughs", "nodescription", "noname", "plain", "unclosed"].contains(name);
        assert_eq!(card.role.is_none(), is_no_role, "{name}");
        assert!(card.warnings.iter().all(|warning| warning.path == card.path && (warning.line > 0 || !is_no_role)));
    }
    assert_eq!(board.cards.iter().filter(|card| card.source == RoleSource::BuiltIn && !card.editable).count(), 5);
    let asking: Vec<&str> = board.tools.iter().filter(|tool| tool.asks).map(|tool| tool.name.as_str()).collect();
    assert_eq!(asking, ["Write", "Edit", "Bash", "TaskStop", "WebFetch", "Commit"]);
    assert_eq!(board.tools[0].about, "Does things.");
}

#[test]
fn what_is_saved_is_what_the_preview_showed() {
    for (name, bytes) in FILES {
        let home = Home::new();
        let path = home.write("config/roles/x.md", bytes);
        let studio = home.studio();
        let file = studio.read(&path).unwrap();
        let (Some(text), Some(mut fields)) = (file.text, file.fields) else { continue };
        // Nothing changed: not a byte.
        let change = RoleChange::Fields { fields: fields.clone() };
        assert_eq!(studio.preview(Some(&text), &change).unwrap().text, text, "{name}");

        fields.max_turns = Some(9);
        fields.isolation = Isolation::Worktree;
        fields.disallowed_tools = vec!["Bash(git push *)".to_owned()];
        let preview = studio.preview(Some(&text), &RoleChange::Fields { fields: fields.clone() }).unwrap();
        assert_eq!(preview.fields.as_ref(), Some(&fields), "{name}");
        let after = saved(studio.save(&path, &file.fingerprint, &preview.text).unwrap());
        assert_eq!(fs::read(&path).unwrap(), preview.text.as_bytes(), "{name}");
        assert_eq!(after.text.as_deref(), Some(preview.text.as_str()));
        assert_eq!((after.fields, after.warnings.len()), (Some(fields), preview.warnings.len()));
        // The kept lines are the old ones, in their order.
        let kept = |kinds: [LineKind; 2]| -> Vec<&str> {
            preview.lines.iter().filter(|line| kinds.contains(&line.kind)).map(|line| line.text.as_str()).collect()
        };
        assert_eq!(kept([LineKind::Context, LineKind::Removed]), text.lines().collect::<Vec<_>>(), "{name}");
        assert_eq!(kept([LineKind::Context, LineKind::Added]), preview.text.lines().collect::<Vec<_>>(), "{name}");
    }
}

#[test]
fn a_file_that_changed_meanwhile_is_not_written_over() {
    let home = Home::new();
    let path = home.write("project/.offshoot/roles/a.md", role("a"));
    let studio = home.studio();
    let file = studio.read(&path).unwrap();
    home.write("project/.offshoot/roles/a.md", role("theirs"));
    let RoleSave::Conflict { now: Some(now) } = studio.save(&path, &file.fingerprint, &role("mine")).unwrap() else {
        panic!("it was written over")
    };
    assert_eq!(now.text.as_deref(), Some(role("theirs").as_str()));
    assert_eq!(fs::read_to_string(&path).unwrap(), role("theirs"));
    // Having seen theirs, mine can be saved.
    saved(studio.save(&path, &now.fingerprint, &role("mine")).unwrap());
    assert_eq!(fs::read_to_string(&path).unwrap(), role("mine"));
    fs::remove_file(&path).unwrap();
    assert_eq!(studio.save(&path, &now.fingerprint, &role("mine")).unwrap(), RoleSave::Conflict { now: None });
    assert!(!Path::new(&path).exists());
}

#[test]
fn nothing_is_read_or_written_outside_of_the_role_folders() {
    let home = Home::new();
    let inside = home.write("config/roles/a.md", role("a"));
    let outside = home.write("secret.md", role("secret"));
    home.write("project/src/b.md", role("b"));
    let studio = home.studio();
    let mut paths = vec![outside, String::new(), "/etc/passwd".to_owned(), "built-in:../x.md".to_owned()];
    for spelling in ["config/roles/../../secret.md", "config/roles/../roles/a.md", "config//roles/a.md"] {
        paths.push(home.path("").join(spelling).display().to_string());
    }
    paths.extend([format!("{inside}/"), format!("{inside}\0"), inside.replace("a.md", "./a.md"), "a.md".to_owned()]);
    for path in paths {
        assert_eq!(studio.read(&path).unwrap_err().code, RejectedCode::NotFound, "{path:?}");
        assert!(studio.delete(&path).is_err(), "{path:?}");
        assert!(studio.copy(&path, RoleSource::Project, false).is_err(), "{path:?}");
        let save = studio.save(&path, "", &role("x"));
        assert!(matches!(save, Err(_) | Ok(RoleSave::Conflict { now: None })), "{path:?}: {save:?}");
    }
    assert_eq!(fs::read_to_string(home.path("secret.md")).unwrap(), role("secret"));
    assert!(!home.path("project/.offshoot").exists());
}

#[cfg(unix)]
#[test]
fn no_link_is_written_through() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    let code = home.write("project/src/main.md", role("code"));
    home.write("project/.offshoot/roles/own.md", role("own"));
    symlink(&code, home.path("project/.offshoot/roles/link.md")).unwrap();
    let studio = home.studio();
    let link = home.path("project/.offshoot/roles/link.md").display().to_string();
    let file = studio.read(&link).unwrap();
    assert!(!file.editable);
    let refused = studio.save(&link, &file.fingerprint, &role("evil")).unwrap_err();
    assert!(refused.message.contains("link"), "{refused}");
    assert!(studio.delete(&link).is_err());
    assert_eq!(fs::read_to_string(&code).unwrap(), role("code"));

    // A folder that leads elsewhere gets no new role either.
    let home = Home::new();
    fs::create_dir_all(home.path("elsewhere")).unwrap();
    symlink(home.path("elsewhere"), home.path("project/.offshoot")).unwrap();
    assert!(home.studio().create(RoleSource::Project, &role("x")).is_err());
    assert_eq!(fs::read_dir(home.path("elsewhere")).unwrap().count(), 0);
}

#[test]
fn a_new_role_gets_a_file_of_its_name() {
    let home = Home::new();
    let studio = home.studio();
    let fields = RoleFields {
        name: "审阅 者".to_owned(),
        description: "Use when: asked # always".to_owned(),
        tools: Some(vec!["Read".to_owned(), "Bash(git diff *)".to_owned()]),
        permission: Some(PermissionMode::Plan),
        model: Some("sonnet".to_owned()),
        body: "You review.\n\nBe kind.".to_owned(),
        ..RoleFields::default()
    };
    let preview = studio.preview(None, &RoleChange::Fields { fields: fields.clone() }).unwrap();
    assert!(preview.loads && preview.warnings.is_empty(), "{preview:?}");
    assert!(preview.lines.iter().all(|line| line.kind == LineKind::Added));
    let file = studio.create(RoleSource::Project, &preview.text).unwrap();
    assert_eq!(file.path, home.path("project/.offshoot/roles/审阅-者.md").display().to_string());
    assert_eq!((file.text, file.fields), (Some(preview.text.clone()), Some(fields)));
    assert!(file.editable);
    let double = studio.create(RoleSource::Project, &preview.text).unwrap_err();
    assert!(double.message.contains("already"), "{double}");
    // In another folder it is another role.
    let other = studio.create(RoleSource::User, &preview.text).unwrap();
    assert_eq!(other.path, home.path("config/roles/审阅-者.md").display().to_string());

    let half = RoleFields { name: "half".to_owned(), ..RoleFields::default() };
    let preview = studio.preview(None, &RoleChange::Fields { fields: half }).unwrap();
    assert!(!preview.loads && preview.text.contains("name: half"));
    assert!(studio.create(RoleSource::User, &preview.text).unwrap_err().message.contains("`description` is missing"));
}

#[test]
fn hostile_names_become_no_paths() {
    let home = Home::new();
    let studio = home.studio();
    for name in ["../../evil", "/etc/evil", "a\\b", ".git", "fork", "x\u{202e}y"] {
        let fields = RoleFields { name: name.to_owned(), description: "d".to_owned(), ..RoleFields::default() };
        let refused = studio.preview(None, &RoleChange::Fields { fields }).unwrap_err();
        assert_eq!(refused.code, RejectedCode::Invalid, "{name}");
        assert!(studio.create(RoleSource::Project, &role(&format!("{name:?}"))).is_err(), "{name}");
    }
    assert!(!home.path("project/.offshoot").exists());
    // A name that another role's file has already.
    home.write("config/roles/b.md", role("a"));
    let file = studio.create(RoleSource::User, &role("b")).unwrap();
    assert!(file.path.ends_with("/b-2.md"), "{}", file.path);
    assert!(studio.create(RoleSource::User, &"x".repeat(300_000)).unwrap_err().message.contains("256 KiB"));
    assert!(studio.create(RoleSource::BuiltIn, &role("c")).is_err());
    assert!(studio.create(RoleSource::Plugin, &role("c")).is_err());
}

#[test]
fn a_copy_in_a_stronger_folder_wins() {
    let home = Home::new();
    let plugin = home.write("config/plugins/acme/roles/r.md", role("reviewer"));
    let studio = home.studio();
    let copy = studio.copy("built-in:verify.md", RoleSource::Project, false).unwrap();
    assert_eq!(copy.path, home.path("project/.offshoot/roles/verify.md").display().to_string());
    assert_eq!(fs::read_to_string(&copy.path).unwrap(), built_in_text("built-in:verify.md").unwrap());
    let override_of = |path: &str| {
        let board = studio.board();
        board.cards.into_iter().find(|card| card.path == path).unwrap().role.unwrap().shadowed_by
    };
    assert_eq!(override_of("built-in:verify.md"), Some(copy.path.clone()));
    // A plugin's role is overridden under its whole name.
    let own = studio.copy(&plugin, RoleSource::User, false).unwrap();
    assert_eq!(own.path, home.path("config/roles/acme-reviewer.md").display().to_string());
    assert_eq!(override_of(&plugin), Some(own.path));
    assert!(studio.copy("built-in:verify.md", RoleSource::Project, false).is_err(), "there is one already");
    assert!(studio.copy("built-in:plan.md", RoleSource::User, true).is_err(), "built-in ones can't be moved away");
    assert!(!home.path("config/roles/plan.md").exists());
}

#[test]
fn moving_and_deleting_can_be_undone() {
    let home = Home::new();
    let odd = "---\r\n# mine\r\nname:   a   # x\r\ndescription: d\r\n---\r\nB";
    let path = home.write("project/.claude/agents/deep/a.md", odd);
    let studio = home.studio();
    let moved = studio.copy(&path, RoleSource::User, true).unwrap();
    assert!(!Path::new(&path).exists());
    assert_eq!(fs::read_to_string(&moved.path).unwrap(), odd);
    assert_eq!(studio.restore(&moved.trashed.unwrap()).unwrap(), path);
    assert_eq!(fs::read_to_string(&path).unwrap(), odd);

    let id = studio.delete(&path).unwrap();
    assert!(!Path::new(&path).exists());
    home.write("project/.claude/agents/deep/a.md", role("new"));
    let refused = studio.restore(&id).unwrap_err();
    assert!(refused.message.contains("made anew"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), role("new"));
    fs::remove_dir_all(home.path("project/.claude")).unwrap();
    studio.restore(&id).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), odd);
    for bad in [id.0.as_str(), "../../project", "", "0123456789abcdef"] {
        assert!(studio.restore(&RoleTrashId(bad.to_owned())).is_err(), "{bad}");
    }
}

#[test]
fn text_from_a_field_keeps_the_line_ends_of_its_file() {
    let home = Home::new();
    let base = "---\r\nname: a\r\ndescription: d\r\n---\r\nOne\nTwo\r\nThree";
    let text = "---\nname: a\ndescription: e\n---\nOne\nTwo\nThree";
    let change = RoleChange::Text { text: text.to_owned() };
    let preview = home.studio().preview(Some(base), &change).unwrap();
    assert_eq!(preview.text, "---\r\nname: a\r\ndescription: e\r\n---\r\nOne\nTwo\r\nThree");
    let changed: Vec<&str> =
        preview.lines.iter().filter(|line| line.kind != LineKind::Context).map(|line| line.text.as_str()).collect();
    assert_eq!(changed, ["description: d", "description: e"]);
}

#[test]
fn entries_are_checked_with_examples() {
    let studio = Home::new().studio();
    let rule = studio.rule("Bash(npm run build *)");
    assert!(rule.valid && rule.problem.is_empty(), "{rule:?}");
    assert!(rule.matches.contains(&"npm run build --all".to_owned()), "{rule:?}");
    assert!(rule.misses.contains(&"npm run build && rm -r build".to_owned()), "{rule:?}");
    let rule = studio.rule("Edit(/docs/**)");
    assert!(rule.matches.contains(&"docs/deeper/file.md".to_owned()), "{rule:?}");
    assert!(rule.misses.contains(&"src/main.rs".to_owned()), "{rule:?}");
    for bad in ["", "Bash(git", "(x)", "Bash(a) b", "Bash(a\nb)"] {
        assert!(!studio.rule(bad).valid, "{bad:?}");
    }
    assert!(studio.rule("bash").problem.contains("`Bash`"));
    assert!(studio.rule("mcp__db__query").problem.is_empty());
}
