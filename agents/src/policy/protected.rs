//! What is never written without a person, whatever rules and modes say, and what is never read without one.

use std::path::{Path, PathBuf};

use super::paths::{Form, Places};

/// Folders of version control systems.
const VERSION_CONTROL: &[&str] = &[".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", ".pijul"];

/// Files that shells, logins and development tools run by themselves.
const START_FILES: &[&str] = &[
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".kshrc",
    ".mkshrc",
    ".cshrc",
    ".tcshrc",
    ".login",
    ".logout",
    ".inputrc",
    ".xinitrc",
    ".xprofile",
    ".xsessionrc",
    ".pam_environment",
    "config.fish",
    ".envrc",
    ".gitconfig",
    ".tmux.conf",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".pypirc",
    ".netrc",
    ".pdbrc",
    ".gdbinit",
    ".lldbinit",
    ".irbrc",
    ".pythonstartup",
    ".mcp.json",
];

/// Folders of the same kind, below which nothing is written.
const START_FOLDERS: &[&str] = &[".ssh", ".gnupg", ".husky", ".aws", ".kube", ".docker"];

/// Files that continuous integration runs.
const CI_FILES: &[&str] = &[
    ".gitlab-ci.yml",
    ".travis.yml",
    "azure-pipelines.yml",
    "jenkinsfile",
    "bitbucket-pipelines.yml",
    ".drone.yml",
    ".cirrus.yml",
    "appveyor.yml",
    ".appveyor.yml",
    ".woodpecker.yml",
    ".pre-commit-config.yaml",
    "cloudbuild.yaml",
    "buildspec.yml",
];

/// Folders of the same kind.
const CI_FOLDERS: &[&str] = &[".circleci", ".buildkite", ".woodpecker", ".gitea", ".forgejo"];

/// Folders and files from which editors run tasks.
const EDITOR: &[&str] = &[
    ".vscode",
    ".idea",
    ".zed",
    ".fleet",
    ".vim",
    ".nvim",
    ".devcontainer",
    ".exrc",
    ".vimrc",
    ".gvimrc",
    ".nvimrc",
    ".nvim.lua",
    ".emacs",
    ".emacs.d",
    ".dir-locals.el",
    ".sublime",
    ".theia",
    ".cursor",
    ".windsurf",
];

/// Why a path is never written automatically, if it isn't. `settings` are folders of Offshoot's own settings.
pub(super) fn never_written(forms: &[Form], places: &Places, settings: &[PathBuf]) -> Option<&'static str> {
    forms.iter().find_map(|form| never_written_form(form, places, settings))
}

fn never_written_form(form: &Form, places: &Places, settings: &[PathBuf]) -> Option<&'static str> {
    let names: Vec<String> = form.components().iter().map(|name| folded(name)).collect();
    let has = |list: &[&str]| names.iter().any(|name| list.contains(&name.as_str()));
    let last = names.last().map(String::as_str).unwrap_or_default();
    let follows = |folder: &str, next: &[&str]| {
        names.windows(2).any(|pair| pair[0] == folder && next.iter().any(|start| pair[1].starts_with(start)))
    };
    if has(VERSION_CONTROL) {
        return Some("it belongs to version control's own files");
    }
    if START_FILES.contains(&last) || has(START_FOLDERS) || follows(".config", &["fish", "git", "autostart", "systemd"])
    {
        return Some("it is run or read by shells and tools when they start");
    }
    if follows(".cargo", &["config"]) || follows(".local", &["bin"]) && names.iter().any(|name| name == "bin") {
        return Some("it is run or read by shells and tools when they start");
    }
    let own = ["settings", "roles", "agents", "hooks", "plugins", "commands", "skills"];
    if follows(".offshoot", &own) || follows(".claude", &own) {
        return Some("it holds settings, roles or hooks of agents");
    }
    if CI_FILES.contains(&last) || has(CI_FOLDERS) || follows(".github", &["workflows", "actions"]) {
        return Some("continuous integration runs it");
    }
    if has(EDITOR) || last.ends_with(".code-workspace") {
        return Some("editors run tasks from it");
    }
    let inside = |folder: &Path| {
        let folder: Vec<String> =
            folder.components().skip(1).map(|part| folded(&part.as_os_str().to_string_lossy())).collect();
        names.starts_with(&folder)
    };
    let in_own_directory = places.directory.iter().any(|directory| form.below(directory).is_some());
    if !in_own_directory && settings.iter().any(|folder| inside(folder)) {
        return Some("it holds settings, roles or hooks of agents");
    }
    None
}

/// A name as the most careless file system compares it: in lower case, without characters that some ignore, without the
/// dots, blanks and stream names that others drop from its end.
fn folded(name: &str) -> String {
    let name = name.split(':').next().unwrap_or(name).trim_end_matches(['.', ' ']);
    let visible =
        name.chars().filter(|&c| c.is_ascii() || crate::shell::odd_character(c.encode_utf8(&mut [0; 4])).is_none());
    let folded = visible.collect::<String>().to_lowercase();
    // The short names that Windows gives.
    if folded == "git~1" { ".git".to_owned() } else { folded }
}

/// What kind of secret a path is, if it is one: its content is read only when a person or a rule that names it says so.
pub(super) fn secret(forms: &[Form]) -> Option<&'static str> {
    forms.iter().find_map(secret_form)
}

fn secret_form(form: &Form) -> Option<&'static str> {
    let names: Vec<String> = form.components().iter().map(|name| folded(name)).collect();
    let last = names.last().map(String::as_str).unwrap_or_default();
    let ends = |ends: &[&str]| ends.iter().any(|end| last.ends_with(end));
    let inside = |path: &[&str]| names.windows(path.len()).any(|window| window.iter().zip(path).all(|(a, b)| a == b));
    let private_key =
        last.starts_with("id_") && ["rsa", "dsa", "ecdsa", "ed25519"].iter().any(|kind| last[3..].starts_with(kind));
    if private_key && !ends(&[".pub"])
        || ends(&[".pem", ".key", ".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx", ".asc"])
    {
        return Some("a key");
    }
    let env = last == ".env" || last.starts_with(".env.");
    if env && !ends(&[".example", ".sample", ".template", ".dist", ".defaults"]) {
        return Some("a file of credentials");
    }
    if inside(&[".ssh"]) && !ends(&[".pub", "known_hosts", "config"]) || inside(&[".gnupg"]) {
        return Some("a key");
    }
    let files = [
        ".netrc",
        "_netrc",
        ".pgpass",
        ".pypirc",
        ".npmrc",
        ".git-credentials",
        ".htpasswd",
        ".my.cnf",
        ".vault-token",
        "credentials.json",
        "credentials.toml",
        "credentials",
        ".dockercfg",
        "auth.json",
        "service-account.json",
        "secrets.yml",
        "secrets.yaml",
        "secrets.json",
        "secrets.toml",
        "shadow",
        "gshadow",
        "master.key",
    ];
    let folders: [&[&str]; 9] = [
        &[".aws", "credentials"],
        &[".config", "gcloud"],
        &[".azure"],
        &[".kube", "config"],
        &[".docker", "config.json"],
        &[".config", "gh"],
        &[".password-store"],
        &["keyrings"],
        &["etc", "ssl", "private"],
    ];
    let environment = names.first().is_some_and(|name| name == "proc") && last == "environ";
    if files.contains(&last) || folders.iter().any(|path| inside(path)) || environment {
        return Some("a file of credentials");
    }
    None
}

/// Whether a file name that ends like `suffix` could be a secret: for wildcards in front of it.
pub(super) fn may_be_secret(suffix: &str) -> bool {
    const PLAIN: &[&str] = &[
        ".rs", ".py", ".ts", ".tsx", ".js", ".jsx", ".mjs", ".css", ".html", ".md", ".txt", ".c", ".h", ".cc", ".cpp",
        ".hpp", ".go", ".java", ".kt", ".rb", ".php", ".sh", ".sql", ".lock", ".svg", ".swift", ".scala", ".lua",
        ".vue", ".svelte", ".log", ".csv", ".proto", ".ml", ".hs", ".ex", ".exs", ".zig", ".rst", ".diff", ".patch",
        ".snap",
    ];
    !PLAIN.iter().any(|end| suffix.ends_with(end))
}

/// Why removing a path is never automatic, if it isn't: it is `/`, the home directory, the project, the agent's own
/// directory, or above one of them.
pub(super) fn never_removed(forms: &[Form], places: &Places) -> Option<&'static str> {
    let kept = places.home.iter().chain(&places.roots);
    let above = |form: &Form| kept.clone().any(|folder| folder.starts_with(form.components()));
    forms.iter().any(above).then_some("it would remove the project, the home directory, or what holds them")
}
