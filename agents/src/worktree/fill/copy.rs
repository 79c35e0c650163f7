//! One file: read, hashed, and written elsewhere when it holds what it must.

#[cfg(unix)]
pub(super) use unix::Copying;

#[cfg(not(unix))]
pub(super) use elsewhere::Copying;

#[cfg(unix)]
mod unix {
    use std::ffi::OsStr;
    use std::fs::File;
    use std::io::{Read, Write};
    use std::os::fd::OwnedFd;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use git2::Oid;
    use rustix::fs::{AtFlags, Mode, OFlags, Timespec, Timestamps, UTIME_OMIT};
    use sha1::{Digest, Sha1};

    use crate::git::index::Stat;

    /// From this size on, sharing blocks is quicker than writing.
    const WORTH_SHARING: usize = 64 << 10;

    /// Files up to this size are read at once; larger ones in pieces of it.
    const PIECE: usize = 1 << 20;

    /// Copies between two folders.
    pub(in super::super) struct Copying {
        from: OwnedFd,
        to: OwnedFd,
        /// Whether the file system has been able to share blocks so far.
        shares: AtomicBool,
    }

    /// What a copy must be.
    struct Wanted<'a> {
        name: &'a Path,
        /// In bytes.
        size: usize,
        /// The blob that it must hold.
        id: Oid,
        executable: bool,
    }

    impl Wanted<'_> {
        /// A blob's hash before its first byte.
        fn hash(&self) -> Sha1 {
            Sha1::new().chain_update(format!("blob {}\0", self.size))
        }

        fn is(&self, hash: Sha1) -> bool {
            hash.finalize().as_slice() == self.id.as_bytes()
        }
    }

    impl Copying {
        /// Nothing when one of the folders can't be opened.
        pub(in super::super) fn new(from: &Path, to: &Path) -> Option<Self> {
            let open = |path: &Path| {
                rustix::fs::open(path, OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
            };
            Some(Self { from: open(from)?, to: open(to)?, shares: AtomicBool::new(cfg!(target_os = "linux")) })
        }

        /// Copies one file if it holds the blob `id`, with the mode of a fresh checkout and the time of the source. Nothing
        /// when it wasn't copied, whatever the reason; then there is no such file.
        pub(in super::super) fn copy(
            &self,
            path: &[u8],
            id: Oid,
            executable: bool,
            buffer: &mut Vec<u8>,
        ) -> Option<Stat> {
            let name = Path::new(OsStr::from_bytes(path));
            // Whatever lies there, a pipe included, is opened without waiting; only a file is read.
            let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
            let mut source = File::from(rustix::fs::openat(&self.from, name, flags, Mode::empty()).ok()?);
            let about = rustix::fs::fstat(&source).ok()?;
            if rustix::fs::FileType::from_raw_mode(about.st_mode) != rustix::fs::FileType::RegularFile {
                return None;
            }
            let size = usize::try_from(about.st_size).ok()?;
            let wanted = Wanted { name, size, id, executable };
            let target = if size >= WORTH_SHARING && self.shares.load(Ordering::Relaxed) {
                self.share(&source, &wanted, buffer)
            } else {
                None
            };
            let target = match target {
                Some(target) => target,
                None if size <= PIECE => self.whole(&mut source, &wanted, buffer)?,
                None => self.in_pieces(&mut source, &wanted, buffer)?,
            };
            let stat = finish(&target, &about);
            if stat.is_none() {
                self.remove(name);
            }
            stat
        }

        /// Reads first: of a file that holds something else nothing is written.
        fn whole(&self, source: &mut File, wanted: &Wanted<'_>, buffer: &mut Vec<u8>) -> Option<File> {
            buffer.resize(wanted.size, 0);
            source.read_exact(buffer).ok()?;
            if !wanted.is(wanted.hash().chain_update(&*buffer)) {
                return None;
            }
            self.filled(wanted, |target| target.write_all(buffer).ok())
        }

        fn in_pieces(&self, source: &mut File, wanted: &Wanted<'_>, buffer: &mut Vec<u8>) -> Option<File> {
            self.filled(wanted, |target| {
                let mut hash = wanted.hash();
                pieces(source, buffer, |piece| {
                    hash.update(piece);
                    target.write_all(piece)
                })?;
                wanted.is(hash).then_some(())
            })
        }

        /// Shares the source's blocks, and then looks at what the copy holds.
        fn share(&self, source: &File, wanted: &Wanted<'_>, buffer: &mut Vec<u8>) -> Option<File> {
            self.filled(wanted, |target| {
                if !clone(target, source) {
                    self.shares.store(false, Ordering::Relaxed);
                    return None;
                }
                let mut hash = wanted.hash();
                pieces(target, buffer, |piece| {
                    hash.update(piece);
                    Ok(())
                })?;
                wanted.is(hash).then_some(())
            })
        }

        /// Makes a file and fills it. It is gone again when that fails.
        fn filled(&self, wanted: &Wanted<'_>, fill: impl FnOnce(&mut File) -> Option<()>) -> Option<File> {
            let mut target = self.make(wanted.name, wanted.executable)?;
            if fill(&mut target).is_none() {
                self.remove(wanted.name);
                return None;
            }
            Some(target)
        }

        /// Makes an empty file, and the folders above it when they are missing.
        fn make(&self, name: &Path, executable: bool) -> Option<File> {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC | OFlags::NOFOLLOW;
            let mode = Mode::from_raw_mode(if executable { 0o777 } else { 0o666 });
            let opened = match rustix::fs::openat(&self.to, name, flags, mode) {
                Err(rustix::io::Errno::NOENT) => {
                    let mut above: Vec<&Path> = name.ancestors().skip(1).collect();
                    above.pop();
                    for folder in above.into_iter().rev() {
                        // Another thread may be quicker.
                        let _ = rustix::fs::mkdirat(&self.to, folder, Mode::from_raw_mode(0o777));
                    }
                    rustix::fs::openat(&self.to, name, flags, mode)
                }
                opened => opened,
            };
            opened.ok().map(File::from)
        }

        fn remove(&self, name: &Path) {
            let _ = rustix::fs::unlinkat(&self.to, name, AtFlags::empty());
        }
    }

    /// Gives a copy the source's time, and tells what the index must say of it.
    fn finish(target: &File, source: &rustix::fs::Stat) -> Option<Stat> {
        let omit = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
        let modified = Timespec { tv_sec: source.st_mtime, tv_nsec: source.st_mtime_nsec.try_into().ok()? };
        rustix::fs::futimens(target, &Timestamps { last_access: omit, last_modification: modified }).ok()?;
        let about = rustix::fs::fstat(target).ok()?;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "git cuts to 32 bits, too")]
        let stat = Stat {
            changed: (about.st_ctime as u32, about.st_ctime_nsec as u32),
            modified: (about.st_mtime as u32, about.st_mtime_nsec as u32),
            device: about.st_dev as u32,
            inode: about.st_ino as u32,
            user: about.st_uid,
            group: about.st_gid,
            size: about.st_size as u32,
        };
        Some(stat)
    }

    fn pieces(
        source: &mut File,
        buffer: &mut Vec<u8>,
        mut take: impl FnMut(&[u8]) -> std::io::Result<()>,
    ) -> Option<()> {
        buffer.resize(PIECE, 0);
        loop {
            let read = source.read(buffer).ok()?;
            if read == 0 {
                return Some(());
            }
            take(&buffer[..read]).ok()?;
        }
    }

    #[cfg(target_os = "linux")]
    fn clone(target: &File, source: &File) -> bool {
        rustix::fs::ioctl_ficlone(target, source).is_ok()
    }

    #[cfg(not(target_os = "linux"))]
    fn clone(_target: &File, _source: &File) -> bool {
        false
    }
}

#[cfg(not(unix))]
mod elsewhere {
    use std::path::Path;

    use crate::git::index::Stat;

    /// Nothing is copied on this platform: git checks everything out.
    pub(in super::super) struct Copying;

    impl Copying {
        pub(in super::super) fn new(_from: &Path, _to: &Path) -> Option<Self> {
            None
        }

        pub(in super::super) fn copy(&self, _: &[u8], _: git2::Oid, _: bool, _: &mut Vec<u8>) -> Option<Stat> {
            None
        }
    }
}
