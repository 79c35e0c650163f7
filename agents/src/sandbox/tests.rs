#![cfg(target_os = "linux")]

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt;

use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;

use super::*;

/// Folders on the disk and what a command is given of them.
struct Ground {
    _root: Option<tempfile::TempDir>,
    root: PathBuf,
    writable: Vec<PathBuf>,
    protected: Vec<PathBuf>,
    environment: Vec<(String, String)>,
    network: bool,
    limits: Limits,
}

impl Ground {
    /// Beside the test program: commands have a `/tmp` of their own.
    fn new() -> Self {
        let program = std::env::current_exe().unwrap();
        Self::at(tempfile::tempdir_in(program.parent().unwrap()).unwrap())
    }

    fn at(root: tempfile::TempDir) -> Self {
        let ground = Self::on(root.path());
        Self { _root: Some(root), ..ground }
    }

    /// In a folder that somebody else removes.
    fn on(root: &Path) -> Self {
        let path = root.canonicalize().unwrap();
        for folder in ["work", "scratch", "main/.git/hooks", "home/.ssh", "home/project"] {
            std::fs::create_dir_all(path.join(folder)).unwrap();
        }
        Self {
            writable: vec![path.join("work"), path.join("scratch")],
            protected: vec![path.join("work/.git"), path.join("work/.offshoot"), path.join("main")],
            environment: vec![("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())],
            network: false,
            limits: Limits::default(),
            root: path,
            _root: None,
        }
    }

    fn file(&self, name: &str, content: &str) {
        std::fs::write(self.root.join("work").join(name), content).unwrap();
    }

    fn fifo(&self) -> Fifo {
        let path = self.root.join("work/fifo");
        rustix::fs::mknodat(rustix::fs::CWD, &path, rustix::fs::FileType::Fifo, 0o666.into(), 0).unwrap();
        Fifo::watch(path)
    }

    fn prepare(&self, sandbox: &Sandbox, command: &str) -> Prepared {
        let directory = self.root.join("work");
        sandbox
            .prepare(&CommandSpec {
                command,
                directory: &directory,
                writable: &self.writable,
                protected: &self.protected,
                environment: &self.environment,
                network: self.network,
                limits: self.limits,
            })
            .unwrap()
    }

    /// Runs a command to its end: exit status, standard output and error.
    async fn run(&self, sandbox: &Sandbox, command: &str) -> (Option<i32>, String) {
        let mut prepared = self.prepare(sandbox, command);
        let (reader, writer) = std::io::pipe().unwrap();
        prepared.command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let mut reader = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into()).unwrap();
        let mut running = sandbox.start(prepared).await.unwrap();
        let mut output = Vec::new();
        reader.read_to_end(&mut output).await.unwrap();
        let status = running.wait().await.unwrap();
        running.end().await;
        (status.code(), String::from_utf8(output).unwrap())
    }
}

/// A named pipe that tells when somebody wrote into it, and when nobody holds it open any more.
struct Fifo {
    up: oneshot::Receiver<()>,
    gone: oneshot::Receiver<()>,
}

impl Fifo {
    fn watch(path: PathBuf) -> Self {
        let ((tell_up, up), (tell_gone, gone)) = (oneshot::channel(), oneshot::channel());
        std::thread::spawn(move || {
            let mut file = std::fs::File::open(path).unwrap();
            file.read_exact(&mut [0]).unwrap();
            let _ = tell_up.send(());
            let _ = file.read_to_end(&mut Vec::new());
            let _ = tell_gone.send(());
        });
        Self { up, gone }
    }
}

fn program(ground: &Ground, text: &str) -> PathBuf {
    let path = ground.root.join("program");
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn detection_believes_only_what_it_has_tried() {
    let ground = Ground::new();
    let reason = async |candidates: &[PathBuf]| {
        let builders = Builders { bubblewrap: candidates.to_vec(), helper: None };
        let sandbox = Sandbox::detect(&builders, &ground.root, Vec::new()).await;
        assert!(!sandbox.is_confined());
        sandbox.label(false)
    };
    assert_eq!(reason(&[]).await, "not confined: bubblewrap (bwrap) is not installed");
    let open = program(&ground, "#!/bin/bash\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n");
    assert!(reason(&[open]).await.ends_with("a command wrote where it must not"));
    let forbidden = program(&ground, "#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n");
    assert!(reason(&[forbidden]).await.ends_with("bwrap: No permissions to create new namespace"));
    let lying = program(&ground, "#!/bin/sh\nexit 0\n");
    assert!(reason(&[lying]).await.ends_with("a command that should work failed"));
    assert_eq!(std::fs::read_dir(&ground.root).unwrap().count(), 6, "the trial leaves only the wall's files behind");

    if Sandbox::installed(Vec::new()).is_some() {
        let builders = Builders { bubblewrap: BUBBLEWRAP.map(PathBuf::from).into(), helper: None };
        let sandbox = Sandbox::detect(&builders, &ground.root, Vec::new()).await;
        assert_eq!(sandbox.label(false), "confined by bubblewrap, no network");
        assert_eq!(sandbox.label(true), "confined by bubblewrap, network open");
    }
}

#[tokio::test(start_paused = true)]
async fn detection_does_not_wait_for_ever() {
    let ground = Ground::new();
    let stuck = program(&ground, "#!/bin/sh\nexec sleep 1000\n");
    let builders = Builders { bubblewrap: vec![stuck], helper: None };
    let sandbox = Sandbox::detect(&builders, &ground.root, Vec::new()).await;
    assert!(sandbox.label(false).ends_with("it did not end"), "{}", sandbox.label(false));
}

#[test]
fn the_profile() {
    let ground = Ground::new();
    std::fs::write(ground.root.join("home/.netrc"), "secret").unwrap();
    let masked = [ground.root.join("home/.ssh"), ground.root.join("home/.netrc"), ground.root.join("nowhere")];
    let directory = ground.root.join("work");
    let spec = CommandSpec {
        command: "",
        directory: &directory,
        writable: &ground.writable,
        protected: &ground.protected,
        environment: &ground.environment,
        network: false,
        limits: Limits::default(),
    };
    let words = bubblewrap::arguments(&spec, &masked, Path::new("/empty")).unwrap();
    let root = ground.root.to_str().unwrap();
    let words: Vec<String> = words.iter().map(|word| word.to_str().unwrap().replace(root, "R")).collect();
    assert_eq!(
        words.join(" "),
        "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try --disable-userns --cap-drop ALL \
         --die-with-parent --new-session --hostname offshoot --unshare-net \
         --ro-bind / / --dev /dev --proc /proc --tmpfs /run --tmpfs /tmp \
         --ro-bind R/main R/main --bind R/scratch R/scratch --bind R/work R/work \
         --ro-bind /empty R/home/.netrc --tmpfs R/home/.ssh --remount-ro R/home/.ssh --chdir R/work --"
    );
    let everything = [PathBuf::from("/")];
    let spec = CommandSpec { writable: &everything, ..spec };
    assert!(matches!(bubblewrap::arguments(&spec, &[], Path::new("/empty")), Err(SandboxError::Root)));
}

#[tokio::test]
async fn writes_stay_where_they_are_allowed() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    let ground = Ground::new();
    let root = ground.root.display();
    for fine in
        ["echo a > a", "mkdir -p b/c && mv a b/c", "rm -r b", &format!("echo a > {root}/scratch/a"), "echo a > /tmp/a"]
    {
        let (status, output) = ground.run(&sandbox, fine).await;
        assert_eq!(status, Some(0), "{fine}: {output}");
    }
    std::fs::create_dir_all(ground.root.join("work/.offshoot")).unwrap();
    std::fs::write(ground.root.join("main/.git/HEAD"), "x").unwrap();
    let refused = [
        &format!("echo a > {root}/main/a"),
        &format!("echo a > {root}/main/.git/hooks/pre-commit"),
        &format!("rm {root}/main/.git/HEAD"),
        &format!("ln {root}/main/.git/HEAD hard && echo a > hard"),
        &format!("ln -s {root}/main link; echo a > link/a"),
        &format!("cd ..; echo a > a && test -e {root}/a"),
        "mkdir .git/x",
        "rmdir .git",
        "mv .git away",
        "echo a > .offshoot/settings.json",
        "mv .offshoot away",
        "echo a > /etc/offshoot-test",
        "mount -t tmpfs none . ",
        "mount -o remount,rw /",
    ];
    for command in refused {
        let (status, output) = ground.run(&sandbox, command).await;
        assert_ne!(status, Some(0), "{command}: {output}");
    }
    assert_eq!(std::fs::read_to_string(ground.root.join("main/.git/HEAD")).unwrap(), "x");
    assert_eq!(std::fs::read_dir(ground.root.join("main")).unwrap().count(), 1);
    assert!(!ground.root.join("a").exists());
}

#[tokio::test]
async fn keys_are_masked_and_a_project_among_them_is_not() {
    let ground = Ground::new();
    let home = ground.root.join("home");
    std::fs::write(home.join(".ssh/id"), "secret").unwrap();
    std::fs::write(home.join(".netrc"), "secret").unwrap();
    let data = home.join("data");
    std::fs::create_dir_all(data.join("worktrees/one")).unwrap();
    std::fs::write(data.join("log"), "secret").unwrap();
    let mut masked = credentials(&home);
    masked.push(data.clone());
    let Some(sandbox) = Sandbox::installed(masked) else { return };
    let mut ground = ground;
    ground.writable.push(data.join("worktrees/one"));
    let home = home.display();
    let command = format!(
        "cat {home}/.netrc; ls -A {home}/.ssh; ls -A {home}/data; echo a > {home}/data/worktrees/one/a && echo written; \
         touch {home}/data/x {home}/.ssh/x {home}/.netrc"
    );
    let (_, output) = ground.run(&sandbox, &command).await;
    assert!(output.starts_with("worktrees\nwritten\n"), "{output}");
    assert_eq!(output.matches("Read-only file system").count(), 3, "{output}");
    assert!(!output.contains("secret") && data.join("worktrees/one/a").exists());
    assert_eq!(std::fs::read(ground.root.join("home/.netrc")).unwrap(), b"secret");
}

#[tokio::test]
async fn nothing_of_the_machine_is_reached() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    let mut ground = Ground::new();
    ground.environment.push(("WORD".to_owned(), "a b".to_owned()));
    let (_, output) = ground.run(&sandbox, "env -u _ -u SHLVL -u PWD -u OLDPWD | sort").await;
    assert_eq!(output, "PATH=/usr/local/bin:/usr/bin:/bin\nWORD=a b\n");
    let (_, output) = ground.run(&sandbox, "grep -h ^Cap /proc/self/status | tr -d '0\\n\\t'; ls /run").await;
    assert_eq!(output, "CapInh:CapPrm:CapEff:CapBnd:CapAmb:");
    let (status, _) = ground.run(&sandbox, &format!("kill -0 {}", std::process::id())).await;
    assert_ne!(status, Some(0), "processes outside");
    let (status, _) = ground.run(&sandbox, "unshare --user true").await;
    assert_ne!(status, Some(0), "more namespaces");
    let (status, _) = ground.run(&sandbox, "read -r line").await;
    assert_eq!(status, Some(1), "standard input is empty");
    let (status, _) = ground.run(&sandbox, "read -r line </dev/tty").await;
    assert_eq!(status, Some(1), "there is no terminal");

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("echo > /dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    assert_ne!(ground.run(&sandbox, &connect).await.0, Some(0));
    ground.network = true;
    assert_eq!(ground.run(&sandbox, &connect).await.0, Some(0));
}

/// Asks the kernel: the same calls fail in another way, or not at all, where no filter is.
#[tokio::test]
async fn system_calls_that_leak_are_filtered() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    if !HAS_FILTER || !Path::new("/usr/bin/perl").exists() {
        println!("NOT TESTED: no filter, or perl is not installed");
        return;
    }
    let ground = Ground::new();
    let script = format!(
        "for my $call ({}, {}, {}, {}) {{ syscall($call, 0, -3, 0, 0, 0); print $! + 0, ' ' }} \
         open my $null, '+<', '/dev/null'; my $c = 'x'; ioctl($null, 0x5412, $c); print $! + 0, ' '; \
         $! = 0; ioctl($null, 0x5401, $c); print $! + 0",
        libc::SYS_keyctl,
        libc::SYS_mount,
        libc::SYS_bpf,
        libc::SYS_io_uring_setup
    );
    ground.file("script", &script);
    let (_, output) = ground.run(&sandbox, "perl script").await;
    let [eperm, enosys, enotty] = [libc::EPERM, libc::ENOSYS, libc::ENOTTY];
    assert_eq!(output, format!("{eperm} {eperm} {eperm} {enosys} {eperm} {enotty}"));
}

#[tokio::test]
async fn limits_hold() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    let mut ground = Ground::new();
    ground.limits = Limits { file_kib: 64, memory_kib: 64 << 10, ..Limits::default() };
    let (status, output) = ground.run(&sandbox, "head -c 100000 /dev/zero > big").await;
    assert_ne!(status, Some(0), "{output}");
    assert_eq!(std::fs::metadata(ground.root.join("work/big")).unwrap().len(), 64 << 10);
    let (status, output) = ground.run(&sandbox, "x=$(head -c 300000000 /dev/zero | tr '\\0' x); echo ${#x}").await;
    assert!(status != Some(0) && !output.contains("300000000"), "{output}");
    let (_, output) = ground.run(&sandbox, "cat /proc/self/oom_score_adj").await;
    assert_eq!(output, "500\n");
}

#[tokio::test]
async fn a_fork_bomb_is_bounded_and_ends_with_its_command() {
    let Some(Confinement::Bubblewrap { program: bwrap }) = Sandbox::installed(Vec::new()).map(|it| it.confinement())
    else {
        return;
    };
    // Where anybody may look, whatever TMPDIR says.
    let mut ground = Ground::at(tempfile::tempdir_in("/tmp").unwrap());
    ground.limits.processes = 40;
    // The kernel doesn't count root's processes, so the command runs as somebody else.
    let as_nobody = if rustix::process::geteuid().is_root() {
        if !Path::new("/usr/bin/setpriv").exists() {
            println!("NOT TESTED: setpriv is not installed");
            return;
        }
        "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups"
    } else {
        ""
    };
    let materials = Materials::lay_out(&ground.root).unwrap();
    let script = format!("#!/bin/sh\nexec {as_nobody} {} \"$@\"\n", bwrap.display());
    let sandbox = Sandbox::new(Ok(Wall {
        builder: Builder::Bubblewrap(program(&ground, &script)),
        masked: Vec::new(),
        materials,
    }));
    for folder in ["", "work", "work/.git", "work/.offshoot"] {
        std::fs::create_dir_all(ground.root.join(folder)).unwrap();
        std::fs::set_permissions(ground.root.join(folder), PermissionsExt::from_mode(0o777)).unwrap();
    }
    let fifo = ground.fifo();
    std::fs::set_permissions(ground.root.join("work/fifo"), PermissionsExt::from_mode(0o666)).unwrap();
    // It sleeps at the end: `wait` would return with the first generation, sometimes before the limit is reached.
    let mut prepared = ground.prepare(&sandbox, "exec 3>fifo; echo >&3; :(){ :|:& }; :; exec sleep 1000");
    let (reader, writer) = std::io::pipe().unwrap();
    prepared.command.stderr(writer);
    let mut reader = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into()).unwrap();
    let running = sandbox.start(prepared).await.unwrap();
    fifo.up.await.unwrap();
    let mut words = String::new();
    while !words.contains("Resource temporarily unavailable") {
        let mut buffer = [0; 4096];
        let count = reader.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "it ended without reaching the limit: {words}");
        words.push_str(&String::from_utf8_lossy(&buffer[..count]));
    }
    drop(running);
    fifo.gone.await.unwrap();
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let Some(sandbox) = Sandbox::installed(Vec::new()) else { return };
    for (command, drop_it) in [
        ("exec 3>fifo; setsid bash -c 'echo >&3; sleep 1000' >/dev/null 2>&1 & read -r x <back", false),
        ("exec 3>fifo; setsid bash -c \"trap '' TERM; echo >&3; sleep 1000\" & sleep 1000", true),
        ("exec 3>fifo; trap '' TERM; echo >&3; while :; do sleep 1000; done", true),
    ] {
        let ground = Ground::new();
        rustix::fs::mknodat(
            rustix::fs::CWD,
            ground.root.join("work/back"),
            rustix::fs::FileType::Fifo,
            0o600.into(),
            0,
        )
        .unwrap();
        let fifo = ground.fifo();
        let mut running = sandbox.start(ground.prepare(&sandbox, command)).await.unwrap();
        fifo.up.await.unwrap();
        if drop_it {
            drop(running);
        } else {
            let back = ground.root.join("work/back");
            tokio::task::spawn_blocking(|| std::fs::write(back, "\n").unwrap()).await.unwrap();
            assert!(running.wait().await.unwrap().success());
        }
        fifo.gone.await.unwrap();
    }
}

#[tokio::test]
async fn a_command_is_asked_before_it_is_made_to_end() {
    for sandbox in Sandbox::installed(Vec::new()).into_iter().chain([Sandbox::not_confined("a test")]) {
        let ground = Ground::new();
        let fifo = ground.fifo();
        let command = "trap 'echo bye > bye; exit 0' TERM; exec 3>fifo; echo >&3; sleep 1000 & wait";
        let running = sandbox.start(ground.prepare(&sandbox, command)).await.unwrap();
        fifo.up.await.unwrap();
        running.end().await;
        fifo.gone.await.unwrap();
        assert_eq!(std::fs::read(ground.root.join("work/bye")).unwrap(), b"bye\n", "{}", sandbox.label(false));
    }
}

#[tokio::test]
async fn without_a_sandbox_the_session_of_a_command_ends_with_it() {
    let sandbox = Sandbox::not_confined("a test");
    let ground = Ground::new();
    let fifo = ground.fifo();
    let command = "exec 3>fifo; (trap '' TERM; echo >&3; sleep 1000) & sleep 1000";
    drop_when_up(sandbox.start(ground.prepare(&sandbox, command)).await.unwrap(), fifo).await;
    assert!(!ground.root.join("work/.git").exists(), "nothing is made where nothing is mounted");
    let (status, _) = ground.run(&sandbox, "read -r line </dev/tty").await;
    assert_eq!(status, Some(1), "there is no terminal");
}

async fn drop_when_up(running: Running, fifo: Fifo) {
    fifo.up.await.unwrap();
    drop(running);
    fifo.gone.await.unwrap();
}

/// Not a test: the program that is killed in the next one, which runs this file's tests again in a process of its own.
#[tokio::test]
#[ignore = "run by `a_command_dies_with_the_program_that_runs_it`"]
#[expect(clippy::disallowed_methods, reason = "how one test process tells another where")]
async fn owner() {
    let Some(root) = std::env::var_os("OFFSHOOT_TEST_ROOT") else { return };
    let ground = Ground::on(Path::new(&root));
    let sandbox = Sandbox::installed(Vec::new()).unwrap();
    let command = "exec 3>fifo; setsid bash -c 'echo >&3; sleep 1000' & sleep 1000";
    let mut running = sandbox.start(ground.prepare(&sandbox, command)).await.unwrap();
    running.wait().await.unwrap();
}

#[tokio::test]
async fn a_command_dies_with_the_program_that_runs_it() {
    if Sandbox::installed(Vec::new()).is_none() {
        return;
    }
    let ground = Ground::new();
    let fifo = ground.fifo();
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "sandbox::tests::owner"])
        .env("OFFSHOOT_TEST_ROOT", &ground.root)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    fifo.up.await.unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    fifo.gone.await.unwrap();
}
