use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use super::super::samples::{FILES, TOOLS};
use super::*;

struct Home {
    root: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { root: tempfile::tempdir().unwrap() }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    fn write(&self, path: &str, text: impl AsRef<[u8]>) -> String {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// A role file whose description is its path.
    fn role(&self, path: &str, name: &str) -> String {
        self.write(path, format!("---\nname: {name}\ndescription: {path}\n---\nB"))
    }

    fn folders(&self) -> RoleFolders {
        RoleFolders {
            user: Some(self.path("config/roles")),
            plugins: Some(self.path("config/plugins")),
            project: Some(self.path("project/sub")),
            trusted: true,
        }
    }

    fn load(&self) -> Catalog {
        Catalog::load(&self.folders(), &TOOLS)
    }
}

fn description<'c>(catalog: &'c Catalog, name: &str) -> &'c str {
    &catalog.get(name).unwrap().description
}

fn told(catalog: &Catalog) -> Vec<(&str, u32, &str)> {
    catalog.warnings().iter().map(|w| (w.path.as_str(), w.line, w.message.as_str())).collect()
}

#[test]
fn built_in_roles_are_without_fault_and_keep_their_limits() {
    // The tools that the program has: a role that comes with it names no others.
    let tools = [
        "Read",
        "Write",
        "Edit",
        "Bash",
        "Grep",
        "Glob",
        "TodoWrite",
        "TaskList",
        "TaskOutput",
        "TaskStop",
        "SendMessage",
        "Commit",
        "WebFetch",
        "Agent",
    ];
    let catalog = Catalog::load(&RoleFolders::default(), &tools);
    assert_eq!(catalog.warnings(), []);
    assert_eq!(catalog.names(), ["explore", "general-purpose", "plan", "researcher", "verify"]);
    let left =
        |name: &str| super::super::narrow::effective_tools(&tools, catalog.get(name).unwrap(), false).unwrap().tools;
    let writes = ["Write", "Edit", "Commit"];
    for name in ["explore", "plan", "researcher", "verify"] {
        assert!(!left(name).iter().any(|tool| writes.contains(&tool.as_str())), "{name}");
    }
    assert_eq!(left("explore"), ["Read", "Grep", "Glob"]);
    assert!(left("verify").contains(&"Bash".to_owned()));
    let explore = catalog.get("explore").unwrap();
    assert_eq!((explore.model.as_deref(), explore.max_turns), (Some("haiku"), Some(8)));
    assert_eq!(catalog.get("plan").unwrap().permission, Some(offshoot_protocol::PermissionMode::Plan));
    let general = catalog.get("general-purpose").unwrap();
    assert_eq!((&general.model, general.permission, &general.tools), (&None, None, &None));
    assert_eq!(catalog.get("researcher").unwrap().max_turns, Some(30));
    assert!(built_in_text(&explore.path).unwrap().contains("name: explore"));
    assert_eq!(built_in_text("built-in:../x.md"), None);
}

#[test]
fn the_strongest_source_wins_and_the_others_are_shadowed_not_warned_about() {
    let home = Home::new();
    fs::create_dir_all(home.path("project/.git")).unwrap();
    let near = home.role("project/sub/.offshoot/roles/explore.md", "explore");
    home.role("project/sub/.claude/agents/explore.md", "explore");
    home.role("project/.offshoot/roles/explore.md", "explore");
    home.role("project/.claude/agents/deep/far.md", "far");
    home.role("config/roles/explore.md", "explore");
    let user = home.role("config/roles/plan.md", "plan");
    home.role("config/plugins/acme/roles/explore.md", "explore");
    home.role(".offshoot/roles/outside.md", "outside");
    let catalog = home.load();
    assert_eq!(told(&catalog), []);
    assert_eq!(description(&catalog, "explore"), "project/sub/.offshoot/roles/explore.md");
    assert_eq!(description(&catalog, "far"), "project/.claude/agents/deep/far.md");
    assert_eq!(description(&catalog, "plan"), "config/roles/plan.md");
    assert_eq!(description(&catalog, "acme:explore"), "config/plugins/acme/roles/explore.md");
    assert!(catalog.get("outside").is_none(), "above the repository's root");
    let all = catalog.all();
    let explore: Vec<_> = all.iter().filter(|role| role.name == "explore").collect();
    assert_eq!(explore.iter().map(|role| role.source).collect::<Vec<_>>(), {
        use RoleSource::{BuiltIn, Project, User};
        [Project, Project, Project, User, BuiltIn]
    });
    assert_eq!(explore[0].shadowed_by, None);
    assert!(explore[1..].iter().all(|role| role.shadowed_by.as_deref() == Some(near.as_str())));
    let built_in = all.iter().find(|role| role.path == "built-in:plan.md").unwrap();
    assert_eq!(built_in.shadowed_by.as_deref(), Some(user.as_str()));
}

#[test]
fn without_a_repository_only_the_project_itself_is_looked_at() {
    let home = Home::new();
    home.role("project/.offshoot/roles/up.md", "up");
    home.role("project/sub/.offshoot/roles/here.md", "here");
    let catalog = home.load();
    assert!(catalog.get("here").is_some() && catalog.get("up").is_none());
}

#[test]
fn twins_in_one_folder_are_both_warned_about_and_the_first_path_wins() {
    let home = Home::new();
    let first = home.role("config/roles/a.md", "twins");
    let second = home.role("config/roles/b.md", "twins");
    let catalog = home.load();
    assert_eq!(description(&catalog, "twins"), "config/roles/a.md");
    let told = told(&catalog);
    assert_eq!(
        told.iter().map(|(path, line, _)| (*path, *line)).collect::<Vec<_>>(),
        [(first.as_str(), 2), (second.as_str(), 2)]
    );
    assert!(told[0].2.contains(&second) && told[1].2.contains(&first), "{told:?}");
}

#[test]
fn one_bad_file_spoils_nothing_else() {
    let home = Home::new();
    for (name, bytes) in FILES {
        home.write(&format!("config/roles/{name}.md"), bytes);
    }
    home.write("config/roles/big.md", format!("---\nname: big\ndescription: d\n---\n{}", "x".repeat(300_000)));
    home.write("config/roles/notes.txt", "no role");
    let catalog = home.load();
    let mut names =
        vec!["badvalues", "bom", "camel", "cjk", "colon", "crlf", "ghosts", "multiline", "notools", "roundtrip"];
    names.extend(["scalars", "twins"]);
    let loaded: Vec<String> = catalog
        .all()
        .into_iter()
        .filter(|role| role.source == RoleSource::User && role.shadowed_by.is_none())
        .map(|role| PathBuf::from(role.path).file_stem().unwrap().to_str().unwrap().trim_end_matches("-a").to_owned())
        .collect();
    let mut loaded = loaded;
    loaded.sort();
    assert_eq!(loaded, names);
    let warned: std::collections::BTreeSet<String> = catalog
        .warnings()
        .iter()
        .map(|warning| PathBuf::from(&warning.path).file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    let expected = [
        "badvalues",
        "big",
        "empty",
        "fork",
        "ghosts",
        "latin1",
        "laughs",
        "nodescription",
        "noname",
        "notools",
        "plain",
        "scalars",
        "twins-a",
        "twins-b",
        "unclosed",
    ];
    assert_eq!(warned.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    let check = Catalog::check(&home.path("config/roles"), &TOOLS);
    assert_eq!(check.warnings(), catalog.warnings());
    assert_eq!(check.names().len(), names.len());
    let one = Catalog::check(&home.path("config/roles/ghosts.md"), &TOOLS);
    assert_eq!((one.names(), one.warnings().len()), (vec!["ghosts"], 1));
    assert!(Catalog::check(&home.path("nowhere"), &TOOLS).warnings()[0].message.contains("can't be read"));
}

#[test]
fn a_project_that_is_not_trusted_gives_no_roles_but_says_so() {
    let home = Home::new();
    let path = home.role("project/sub/.claude/agents/explore.md", "explore");
    let catalog = Catalog::load(&RoleFolders { trusted: false, ..home.folders() }, &TOOLS);
    assert_eq!(catalog.get("explore").unwrap().source, RoleSource::BuiltIn);
    assert!(matches!(told(&catalog).as_slice(), [(told, 0, message)] if *told == path && message.contains("trust")));
}

#[test]
fn reserved_names_do_not_load_from_anywhere() {
    let home = Home::new();
    home.role("project/sub/.offshoot/roles/a.md", "Fork");
    home.role("config/plugins/acme/roles/b.md", "FORK");
    let catalog = home.load();
    assert_eq!(catalog.names().len(), BUILT_IN.len());
    assert_eq!(catalog.warnings().len(), 2);
}

#[test]
fn plugins_whose_name_could_pass_for_something_else_are_ignored() {
    let home = Home::new();
    home.role("config/plugins/a:b/roles/x.md", "x");
    home.role("config/plugins/a<b/roles/x.md", "x");
    let catalog = home.load();
    assert_eq!(catalog.names().len(), BUILT_IN.len());
    assert_eq!(catalog.warnings().len(), 2);
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_and_pipes_are_ignored_with_a_warning() {
    use std::os::unix::fs::symlink;
    let home = Home::new();
    fs::create_dir_all(home.path("project/.git")).unwrap();
    fs::create_dir_all(home.path("project/sub")).unwrap();
    home.role("secret.md", "secret");
    home.role("project/docs/inside.md", "inside");
    home.role("elsewhere/agents/other.md", "other");
    let roles = home.path("project/.offshoot/roles");
    fs::create_dir_all(&roles).unwrap();
    symlink(home.path("secret.md"), roles.join("a-out.md")).unwrap();
    symlink(home.path("nowhere.md"), roles.join("b-dangling.md")).unwrap();
    symlink("../../docs/inside.md", roles.join("c-in.md")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, roles.join("d-pipe.md"), rustix::fs::Mode::RUSR).unwrap();
    symlink(home.path("elsewhere"), home.path("project/.claude")).unwrap();
    fs::create_dir_all(home.path("config/plugins")).unwrap();
    symlink(home.path("elsewhere"), home.path("config/plugins/p")).unwrap();
    let catalog = home.load();
    assert!(catalog.get("inside").is_some());
    assert!(catalog.get("secret").is_none() && catalog.get("other").is_none());
    let told: Vec<String> = told(&catalog)
        .into_iter()
        .map(|(path, _, message)| {
            let name = PathBuf::from(path).file_name().unwrap().to_str().unwrap().to_owned();
            format!("{name} {}", message.split([':', ',']).next().unwrap())
        })
        .collect();
    for expected in ["a-out.md ignored", "b-dangling.md not loaded", "d-pipe.md ignored", "agents ignored"] {
        assert!(told.iter().any(|told| told == expected), "{expected}: {told:?}");
    }
}

#[test]
fn close_names_are_proposed() {
    let home = Home::new();
    home.role("config/plugins/acme/roles/x.md", "deployer");
    let catalog = home.load();
    assert_eq!(catalog.closest("Explorer")[0], "explore");
    assert_eq!(catalog.closest("general")[0], "general-purpose");
    assert_eq!(catalog.closest("deployer")[0], "acme:deployer");
    assert_eq!(catalog.closest("xyzzy"), Vec::<String>::new());
}

#[test]
fn the_fingerprint_changes_with_what_a_model_is_told_and_only_then() {
    let home = Home::new();
    home.role("config/roles/a.md", "a");
    let before = home.load();
    assert!(before.announcement().contains("\n- a: config/roles/a.md\n- explore: "), "{}", before.announcement());
    home.write("config/roles/a.md", "---\nname: a\ndescription: config/roles/a.md\n---\nother prompt");
    let body = home.load();
    assert_eq!(body.fingerprint(), before.fingerprint());
    assert_ne!(body, before);
    home.write("config/roles/a.md", "---\nname: a\ndescription: new\n---\nother prompt");
    assert_ne!(home.load().fingerprint(), before.fingerprint());
}

#[test]
fn a_role_that_an_agent_holds_survives_the_change_of_its_file() {
    let home = Home::new();
    home.role("config/roles/a.md", "a");
    let held = Arc::clone(home.load().get("a").unwrap());
    home.write("config/roles/a.md", "---\nname: a\ndescription: new\n---\nB");
    assert_eq!(description(&home.load(), "a"), "new");
    assert_eq!(held.description, "config/roles/a.md");
}
