//! How long this process's control group was kept off the processors, having used up its share.
//!
//! Source: Linux, Documentation/admin-guide/cgroup-v2.rst (`cpu.stat`, `throttled_usec`) and
//! Documentation/scheduler/sched-bwc.rst (`throttled_time`). Limits of groups above its own are
//! not seen.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

/// The statistics of this process's control group.
#[derive(Debug, Default)]
pub(super) struct Throttle(Option<File>);

impl Throttle {
    /// Opens the statistics, where there are any.
    pub fn of_this_process() -> Self {
        let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let mut files = groups.lines().filter_map(statistics);
        Throttle(files.find_map(|file| File::open(file).ok()))
    }

    /// Nanoseconds since the group was made, summed over processors; zero where there is no limit.
    pub fn nanoseconds(&self) -> u64 {
        let mut text = [0; 1024];
        let read = |file: &File| file.read_at(&mut text, 0).ok();
        let length = self.0.as_ref().and_then(read).unwrap_or(0);
        let text = text.get(..length).unwrap_or_default();
        throttled(&String::from_utf8_lossy(text))
    }
}

/// Where a line of `/proc/self/cgroup` has its processor statistics; `None` for other controllers.
fn statistics(line: &str) -> Option<PathBuf> {
    let mut fields = line.splitn(3, ':').skip(1);
    let (controllers, group) = (fields.next()?, fields.next()?.trim_start_matches('/'));
    let root = match controllers {
        "" => "/sys/fs/cgroup".to_owned(),
        of if of.split(',').any(|one| one == "cpu") => format!("/sys/fs/cgroup/{of}"),
        _ => return None,
    };
    Some(PathBuf::from(root).join(group).join("cpu.stat"))
}

fn throttled(statistics: &str) -> u64 {
    let value = |line: &str| {
        let (name, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        match name {
            "throttled_usec" => Some(value.saturating_mul(1_000)),
            "throttled_time" => Some(value),
            _ => None,
        }
    };
    statistics.lines().find_map(value).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_kinds_of_control_groups_are_read() {
        let at = |line| statistics(line).map(|file| file.display().to_string());
        let second = at("0::/user.slice/a");
        assert_eq!(
            second.as_deref(),
            Some("/sys/fs/cgroup/user.slice/a/cpu.stat")
        );
        let first = at("4:cpu,cpuacct:/job_7");
        assert_eq!(
            first.as_deref(),
            Some("/sys/fs/cgroup/cpu,cpuacct/job_7/cpu.stat")
        );
        assert_eq!(at("3:cpuset:/"), None);
        assert_eq!(
            throttled("nr_periods 4\nnr_throttled 2\nthrottled_usec 1500\n"),
            1_500_000
        );
        assert_eq!(
            throttled("nr_periods 4\nnr_throttled 2\nthrottled_time 70\n"),
            70
        );
        assert_eq!(throttled("usage_usec 9\n"), 0);
    }
}
