//! Medians, times, the processor time and the memory of this process and of others.

use std::path::Path;
use std::time::{Duration, Instant};

/// The middle one of `count` figures. An odd count is meant.
pub(crate) fn median(count: usize, figure: impl FnMut() -> f64) -> f64 {
    middle(std::iter::repeat_with(figure).take(count).collect())
}

/// The middle one of some figures.
pub(crate) fn middle(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// How long this takes.
pub(crate) fn time<T>(act: impl FnOnce() -> T) -> (Duration, T) {
    let start = Instant::now();
    let made = act();
    (start.elapsed(), made)
}

/// Milliseconds.
pub(crate) fn ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// Microseconds.
pub(crate) fn us(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Processor time of this process's threads, apart from those whose name begins with `except`. `None` where the system
/// doesn't tell.
pub(crate) fn processor_time(except: &str) -> Option<Duration> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir("/proc/self/task").ok()? {
        let folder = task.ok()?.path();
        let read = |name: &str| std::fs::read_to_string(folder.join(name));
        // A thread that has just ended is none.
        let (Ok(name), Ok(statistics)) = (read("comm"), read("schedstat")) else { continue };
        if !name.starts_with(except) {
            nanoseconds += statistics.split(' ').next()?.parse::<u64>().ok()?;
        }
    }
    Some(Duration::from_nanos(nanoseconds))
}

/// The most memory that a process has held so far, in MB (10⁶ bytes).
pub(crate) fn peak_memory(process: u32) -> Option<f64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024.0 / 1e6)
}

/// All bytes of the files in a folder whose names begin with `prefix`.
pub(crate) fn size_of(folder: &Path, prefix: &str) -> u64 {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    let wanted = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(prefix));
    wanted.map(|entry| entry.metadata().unwrap().len()).sum()
}
