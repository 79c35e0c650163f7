//! The wall for machines where user namespaces are forbidden: Landlock and a filter, built by the real program.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]
#![allow(clippy::print_stdout, reason = "what could not be tested is said")]

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use offshoot_agents::sandbox::{Builders, CommandSpec, Confinement, Limits, Sandbox};
use offshoot_tests::program;
use tokio::io::AsyncReadExt as _;
use tokio::sync::oneshot;

/// Folders on the disk, and the wall around the first of them.
struct Ground {
    _folder: tempfile::TempDir,
    root: PathBuf,
    sandbox: Sandbox,
    network: bool,
    limits: Limits,
}

impl Ground {
    /// Nothing where the kernel has no Landlock, with a notice.
    async fn new() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["work", "main/.git/hooks", "home/.ssh", "home/project", "data"] {
            std::fs::create_dir_all(root.join(name)).unwrap();
        }
        std::fs::write(root.join("home/.ssh/id"), "secret").unwrap();
        std::fs::write(root.join("home/.netrc"), "secret").unwrap();
        std::fs::write(root.join("home/plain"), "plain").unwrap();
        std::fs::write(root.join("main/.git/HEAD"), "head").unwrap();
        let builders = Builders { bubblewrap: Vec::new(), helper: Some(program::offshoot()) };
        let masked = [".ssh", ".netrc"].map(|name| root.join("home").join(name)).into();
        let sandbox = Sandbox::detect(&builders, &root.join("data"), masked).await;
        if let Confinement::Landlock { reason } = sandbox.confinement() {
            assert_eq!(reason, "bubblewrap (bwrap) is not installed");
            return Some(Self { _folder: folder, root, sandbox, network: false, limits: Limits::default() });
        }
        println!("NOT TESTED: {}", sandbox.confinement());
        None
    }

    async fn start(&self, command: &str) -> (offshoot_agents::sandbox::Running, tokio::net::unix::pipe::Receiver) {
        let directory = self.root.join("work");
        let environment = [("PATH".to_owned(), "/usr/local/bin:/usr/bin:/bin".to_owned())];
        let mut prepared = self
            .sandbox
            .prepare(&CommandSpec {
                command,
                directory: &directory,
                writable: std::slice::from_ref(&directory),
                protected: &[],
                environment: &environment,
                network: self.network,
                limits: self.limits,
            })
            .unwrap();
        let (reader, writer) = std::io::pipe().unwrap();
        prepared.command.stdout(writer.try_clone().unwrap()).stderr(writer);
        let reader = tokio::net::unix::pipe::Receiver::from_owned_fd(reader.into()).unwrap();
        (self.sandbox.start(prepared).await.unwrap(), reader)
    }

    async fn run(&self, command: &str) -> (Option<i32>, String) {
        let (mut running, mut reader) = self.start(command).await;
        let mut output = Vec::new();
        reader.read_to_end(&mut output).await.unwrap();
        let status = running.wait().await.unwrap();
        running.end().await;
        (status.code(), String::from_utf8_lossy(&output).into_owned())
    }

    /// A named pipe that tells when a command wrote into it, and when nothing holds it open any more.
    fn fifo(&self) -> (oneshot::Receiver<()>, oneshot::Receiver<()>) {
        let path = self.root.join("work/fifo");
        let _ = std::fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let ((tell_up, up), (tell_gone, gone)) = (oneshot::channel(), oneshot::channel());
        std::thread::spawn(move || {
            let mut file = std::fs::File::open(path).unwrap();
            file.read_exact(&mut [0]).unwrap();
            let _ = tell_up.send(());
            let _ = file.read_to_end(&mut Vec::new());
            let _ = tell_gone.send(());
        });
        (up, gone)
    }
}

#[tokio::test]
async fn writes_stay_where_they_are_allowed() {
    let Some(ground) = Ground::new().await else { return };
    assert_eq!(ground.sandbox.label(false), "partly confined by Landlock, no network");
    let root = ground.root.display();
    for fine in [
        "echo a > a && mkdir -p b/c && mv a b/c && rm -r b",
        "echo a > $TMPDIR/a && cat $TMPDIR/a",
        "echo a > /dev/null; head -c 4 /dev/urandom | wc -c",
        "ls / /usr/bin > /dev/null",
        &format!("cat {root}/home/plain"),
        "bash -c 'exit 0'",
    ] {
        let (status, output) = ground.run(fine).await;
        assert_eq!(status, Some(0), "{fine}: {output}");
    }
    for refused in [
        &format!("echo a > {root}/main/a"),
        &format!("echo a > {root}/main/.git/hooks/pre-commit"),
        &format!("rm {root}/main/.git/HEAD"),
        &format!("mv {root}/main/.git/HEAD ."),
        &format!("mv /dev/null . ; : > {root}/main/.git/HEAD"),
        &format!("ln {root}/main/.git/HEAD hard && echo a > hard"),
        &format!("ln -s {root}/main link; echo a > link/a"),
        &format!("perl -e 'truncate(\"{root}/main/.git/HEAD\", 0) or exit 1'"),
        "echo a > /etc/offshoot-test",
        "echo a > /tmp/offshoot-test",
        "mount -t tmpfs none .",
        "unshare --user true",
        "chroot . true",
        "mknod disk b 8 0",
        "mknod null c 1 3",
    ] {
        let (status, output) = ground.run(refused).await;
        assert_ne!(status, Some(0), "{refused}: {output}");
    }
    assert_eq!(std::fs::read_to_string(ground.root.join("main/.git/HEAD")).unwrap(), "head");
    assert_eq!(std::fs::read_dir(ground.root.join("main")).unwrap().count(), 1);
}

#[tokio::test]
async fn keys_cannot_be_read() {
    let Some(ground) = Ground::new().await else { return };
    let home = ground.root.join("home");
    std::os::unix::fs::symlink(home.join(".ssh"), home.join("link")).unwrap();
    let home = home.display();
    for path in [".netrc", ".ssh/id", "link/id", "../home/.ssh/id"] {
        let (status, output) = ground.run(&format!("cat {home}/{path}")).await;
        assert!(status != Some(0) && !output.contains("secret"), "{path}: {output}");
    }
    let (_, output) = ground.run(&format!("cat /proc/{}/environ", std::process::id())).await;
    assert!(output.contains("Permission denied"), "{output}");
}

#[tokio::test]
async fn nothing_of_the_machine_is_reached() {
    let Some(mut ground) = Ground::new().await else { return };
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let connect = format!("echo > /dev/tcp/127.0.0.1/{}", listener.local_addr().unwrap().port());
    let socket = ground.root.join("work/socket");
    let _host = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    let host = format!("perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(\"{}\") or exit 1'", socket.display());
    for refused in [&connect, &host] {
        assert_ne!(ground.run(refused).await.0, Some(0), "{refused}");
    }
    let (_, output) = ground.run("grep -h ^Cap /proc/self/status | tr -d '0\\n\\t'").await;
    assert!(output.starts_with("CapInh:CapPrm:CapEff:CapBnd:"), "{output}");
    let (_, output) = ground.run("env -u _ -u SHLVL -u PWD -u OLDPWD | cut -d= -f1 | sort | tr '\\n' ' '").await;
    assert_eq!(output, "PATH TMPDIR ");
    let (status, _) = ground.run("read -r line").await;
    assert_eq!(status, Some(1), "standard input is empty");
    let (status, _) = ground.run("read -r line </dev/tty").await;
    assert_eq!(status, Some(1), "there is no terminal");
    ground.network = true;
    assert_eq!(ground.run(&connect).await.0, Some(0));
    assert_ne!(ground.run(&host).await.0, Some(0), "host sockets stay out of reach");
}

#[tokio::test]
async fn limits_hold() {
    let Some(mut ground) = Ground::new().await else { return };
    ground.limits = Limits { file_kib: 64, ..Limits::default() };
    let (status, output) = ground.run("head -c 100000 /dev/zero > big").await;
    assert_ne!(status, Some(0), "{output}");
    assert_eq!(std::fs::metadata(ground.root.join("work/big")).unwrap().len(), 64 << 10);
    assert_eq!(ground.run("cat /proc/self/oom_score_adj").await.1, "500\n");
    assert_eq!(ground.run("exit 7").await.0, Some(7));
    assert_eq!(ground.run("kill -9 $$").await.0, Some(137));
}

#[tokio::test]
async fn what_a_command_leaves_behind_ends_with_it() {
    let Some(ground) = Ground::new().await else { return };
    for (command, drop_it) in [
        ("exec 3>fifo; (setsid bash -c \"trap '' TERM; echo >&3; sleep 1000\" &) >/dev/null 2>&1; sleep 1", false),
        ("exec 3>fifo; (setsid bash -c \"trap '' TERM; echo >&3; sleep 1000\" &); sleep 1000", true),
        ("exec 3>fifo; trap '' TERM; echo >&3; while :; do sleep 1000; done", true),
    ] {
        let (up, gone) = ground.fifo();
        let (mut running, reader) = ground.start(command).await;
        up.await.unwrap();
        if drop_it {
            drop(running);
        } else {
            assert!(running.wait().await.unwrap().success());
        }
        gone.await.unwrap();
        drop(reader);
    }
}

/// Not a test: the program that is killed in the next one.
#[tokio::test]
#[ignore = "run by `a_command_dies_with_the_program_that_runs_it`"]
async fn owner() {
    let Some(fifo) = std::env::var_os("OFFSHOOT_TEST_FIFO") else { return };
    let Some(ground) = Ground::new().await else { return };
    // Where this command may write there is another name for the pipe.
    std::fs::hard_link(Path::new(&fifo), ground.root.join("work/own")).unwrap();
    let (mut running, _reader) = ground.start("exec 3>own; setsid bash -c 'echo >&3; sleep 1000' & sleep 1000").await;
    running.wait().await.unwrap();
}

#[tokio::test]
async fn a_command_dies_with_the_program_that_runs_it() {
    let Some(ground) = Ground::new().await else { return };
    let (up, gone) = ground.fifo();
    let mut owner = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", "owner"])
        .env("OFFSHOOT_TEST_FIFO", ground.root.join("work/fifo"))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    up.await.unwrap();
    owner.kill().unwrap();
    owner.wait().unwrap();
    gone.await.unwrap();
}

#[tokio::test]
async fn a_helper_that_confines_nothing_is_not_believed() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let lying = root.join("helper");
    std::fs::write(&lying, "#!/bin/bash\nwhile [ \"$1\" != -- ]; do shift; done; shift; exec \"$@\"\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&lying, mode).unwrap();
    let builders = Builders { bubblewrap: Vec::new(), helper: Some(lying) };
    let sandbox = Sandbox::detect(&builders, &root, Vec::new()).await;
    assert!(!sandbox.is_confined());
    assert!(sandbox.label(false).ends_with("Landlock does not work either: a command wrote where it must not"));
}
