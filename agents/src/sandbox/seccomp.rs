//! A filter against system calls that no build or test needs, and through which a namespace leaks or the kernel is
//! attacked: the user's keyrings, which aren't namespaced; mounts; `io_uring`, whose operations no filter sees; typing into
//! a terminal. `ptrace` stays: inside a process namespace it reaches only the command's own processes, and leak checkers
//! need it.
//!
//! The program is classic BPF as the kernel reads it (`linux/filter.h`, `linux/seccomp.h`), over `struct seccomp_data`.

/// Offsets in `struct seccomp_data`; of an argument, its lower half.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const FIRST_ARGUMENT: u32 = 16;
const SECOND_ARGUMENT: u32 = 24;

const LOAD: u16 = 0x20;
const IF_EQUAL: u16 = 0x15;
const IF_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

const ALLOW: u32 = 0x7fff_0000;
const FAIL_WITH: u32 = 0x0005_0000;

/// `AUDIT_ARCH_*` of this machine (`linux/audit.h`).
const NATIVE: u32 = if cfg!(target_arch = "x86_64") { 0xc000_003e } else { 0xc000_00b7 };

/// Calls that programs try and do without.
const MISSING: [libc::c_long; 3] = [libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

const FORBIDDEN: [libc::c_long; 21] = [
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_open_by_handle_at,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_setns,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
];

/// What namespaces would keep from a command.
const OUTSIDE: [libc::c_long; 3] = [
    // Kernels from 5.19 to 6.1 have a Landlock that doesn't speak of it.
    libc::SYS_truncate,
    libc::SYS_unshare,
    libc::SYS_chroot,
];

/// What else is around the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Around {
    /// Namespaces of its own: sockets reach only what is in them.
    Namespaces,
    /// Nothing: every socket would reach the machine's. With `network` those of the network are allowed.
    Machine {
        /// Whether it may use the network.
        network: bool,
    },
}

/// The program's bytes, as the kernel and `bwrap --seccomp` take them.
pub(super) fn program(around: Around) -> Vec<u8> {
    let fail = |error: i32| (RETURN, 0, 0, FAIL_WITH | error.unsigned_abs());
    // Each: code, how many to skip if true, if false, operand.
    let mut program = vec![
        (LOAD, 0, 0, ARCHITECTURE),
        // 32-bit programs have other numbers for the same calls.
        (IF_EQUAL, 1, 0, NATIVE),
        fail(libc::ENOSYS),
        (LOAD, 0, 0, NUMBER),
    ];
    if cfg!(target_arch = "x86_64") {
        // As do those of the x32 kind.
        program.extend([(IF_AT_LEAST, 0, 1, 0x4000_0000), fail(libc::ENOSYS)]);
    }
    for (calls, error) in [(&MISSING[..], libc::ENOSYS), (&FORBIDDEN[..], libc::EPERM)] {
        for call in calls {
            program.extend([(IF_EQUAL, 0, 1, number(*call)), fail(error)]);
        }
    }
    if let Around::Machine { network } = around {
        for call in OUTSIDE {
            program.extend([(IF_EQUAL, 0, 1, number(call)), fail(libc::EPERM)]);
        }
        // Pairs of sockets stay: they reach nobody else.
        if network {
            program.extend([
                (IF_EQUAL, 0, 3, number(libc::SYS_socket)),
                (LOAD, 0, 0, FIRST_ARGUMENT),
                (IF_EQUAL, 0, 1, libc::AF_UNIX.unsigned_abs()),
                fail(libc::EACCES),
                (LOAD, 0, 0, NUMBER),
            ]);
        } else {
            program.extend([(IF_EQUAL, 0, 1, number(libc::SYS_socket)), fail(libc::EACCES)]);
        }
    }
    program.extend([
        (IF_EQUAL, 0, 4, number(libc::SYS_ioctl)),
        (LOAD, 0, 0, SECOND_ARGUMENT),
        (IF_EQUAL, 1, 0, TIOCSTI),
        (IF_EQUAL, 0, 1, TIOCLINUX),
        fail(libc::EPERM),
        (RETURN, 0, 0, ALLOW),
    ]);
    let bytes = |(code, yes, no, operand): (u16, u8, u8, u32)| {
        let [c0, c1] = code.to_ne_bytes();
        let [k0, k1, k2, k3] = operand.to_ne_bytes();
        [c0, c1, yes, no, k0, k1, k2, k3]
    };
    program.into_iter().flat_map(bytes).collect()
}

/// Puts a character into a terminal's input; pastes a console's selection (`asm-generic/ioctls.h`, `linux/tiocl.h`).
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;

fn number(call: libc::c_long) -> u32 {
    u32::try_from(call).expect("system calls have small numbers")
}

/// Puts a program in force for this thread and whatever it becomes or starts. No new privileges may be had any more.
#[allow(unsafe_code, reason = "the kernel is handed a pointer to the program")]
pub(super) fn install(program: &[u8]) -> std::io::Result<()> {
    let instruction = |bytes: &[u8]| libc::sock_filter {
        code: u16::from_ne_bytes([bytes[0], bytes[1]]),
        jt: bytes[2],
        jf: bytes[3],
        k: u32::from_ne_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]),
    };
    let mut instructions: Vec<_> = program.chunks_exact(8).map(instruction).collect();
    let len = u16::try_from(instructions.len()).map_err(|_| std::io::ErrorKind::InvalidInput)?;
    let program = libc::sock_fprog { len, filter: instructions.as_mut_ptr() };
    // SAFETY: `program` points to `len` instructions, which live until the call returns; the kernel copies and checks them.
    let done = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) };
    if done == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}
