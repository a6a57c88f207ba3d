//! What the kernel says about this process.

use std::fs;
use std::time::Duration;

use super::metric::Number;

/// What the kernel says about a process; absent where it does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessStats {
    /// CPU time it took.
    pub cpu: Option<Duration>,
    /// Bytes in RAM.
    pub resident: Option<u64>,
    /// Bytes in all.
    pub virtual_memory: Option<u64>,
    /// When it started, since 1970.
    pub started: Option<Duration>,
    pub open_fds: Option<u64>,
    /// File descriptors that may be open.
    pub max_fds: Option<u64>,
    pub threads: Option<u64>,
}

impl ProcessStats {
    /// Reads `/proc`. Where there is none, nothing is known.
    pub fn read() -> Self {
        let text = |path| fs::read_to_string(path).unwrap_or_default();
        let fds = fs::read_dir("/proc/self/fd").ok().map(|entries| {
            // Reading the folder takes one itself.
            (entries.count() as u64).saturating_sub(1)
        });
        let kernel = Kernel {
            ticks: rustix::param::clock_ticks_per_second(),
            page: rustix::param::page_size() as u64,
        };
        let stat = text("/proc/self/stat");
        let mut stats = Self::parse(&stat, &text("/proc/self/limits"), &text("/proc/stat"), kernel);
        stats.open_fds = fds;
        stats
    }

    fn parse(stat: &str, limits: &str, boot: &str, kernel: Kernel) -> Self {
        // The second field is the name of the program, which may hold spaces and brackets.
        let fields: Vec<&str> = match stat.rsplit_once(')') {
            Some((_, rest)) => rest.split_ascii_whitespace().collect(),
            None => Vec::new(),
        };
        // Numbered as in proc(5), from 3.
        let field = |number: usize| fields.get(number.checked_sub(3)?)?.parse::<u64>().ok();
        let time = |ticks: u64| {
            let micros = u128::from(ticks) * 1_000_000 / u128::from(kernel.ticks.max(1));
            Duration::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
        };
        let booted = line(boot, "btime ").and_then(|rest| rest.trim().parse().ok());
        let files = line(limits, "Max open files").and_then(|rest| {
            // "unlimited" is no number.
            rest.split_ascii_whitespace().next()?.parse().ok()
        });
        Self {
            cpu: field(14).zip(field(15)).map(|(user, system)| time(user.saturating_add(system))),
            resident: field(24).map(|pages| pages.saturating_mul(kernel.page)),
            virtual_memory: field(23),
            started: field(22)
                .zip(booted)
                .map(|(after, booted)| time(after).saturating_add(Duration::from_secs(booted))),
            open_fds: None,
            max_fds: files,
            threads: field(20),
        }
    }

    pub(super) fn values(&self) -> [(&'static super::metric::Metric<0>, Option<Number>); 7] {
        use super::table as t;
        [
            (&t::PROCESS_CPU, self.cpu.map(Number::seconds)),
            (&t::PROCESS_RESIDENT, self.resident.map(Number::from)),
            (&t::PROCESS_VIRTUAL, self.virtual_memory.map(Number::from)),
            (&t::PROCESS_START, self.started.map(Number::seconds)),
            (&t::PROCESS_FDS, self.open_fds.map(Number::from)),
            (&t::PROCESS_MAX_FDS, self.max_fds.map(Number::from)),
            (&t::PROCESS_THREADS, self.threads.map(Number::from)),
        ]
    }
}

#[derive(Clone, Copy)]
struct Kernel {
    ticks: u64,
    page: u64,
}

fn line<'t>(text: &'t str, begins: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(begins))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KERNEL: Kernel = Kernel { ticks: 100, page: 4096 };

    #[test]
    fn fields_are_found_behind_any_program_name() {
        let stat = "42 (a (b) c) S 1 42 42 0 -1 4194304 1 0 0 0 150 25 0 0 20 0 9 0 12345 900000 300 18446744073709551615";
        let limits = "Limit Soft Hard Units\nMax open files            1024                 524288               files\n";
        let read = ProcessStats::parse(stat, limits, "cpu 1 2\nbtime 1700000000\n", KERNEL);
        let expected = ProcessStats {
            cpu: Some(Duration::from_millis(1_750)),
            resident: Some(300 * 4096),
            virtual_memory: Some(900_000),
            started: Some(Duration::from_millis(1_700_000_123_450)),
            open_fds: None,
            max_fds: Some(1024),
            threads: Some(9),
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_not_there_is_not_known() {
        let limits = "Max open files            unlimited            unlimited            files\n";
        assert_eq!(ProcessStats::parse("", limits, "", KERNEL), ProcessStats::default());
        assert_eq!(ProcessStats::parse("1 (x) S", "", "x", KERNEL), ProcessStats::default());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_is_known() {
        let stats = ProcessStats::read();
        assert!(stats.resident.unwrap() > 100_000);
        assert!(stats.virtual_memory >= stats.resident);
        assert!((3..100_000).contains(&stats.open_fds.unwrap()));
        let now = std::time::UNIX_EPOCH.elapsed().unwrap();
        let age = now.checked_sub(stats.started.unwrap()).unwrap();
        assert!(age < Duration::from_secs(3_600), "{age:?}");
        assert!(stats.cpu.is_some() && stats.threads.unwrap() > 0);
    }
}
