//! How an image behaves, which its name says.
//!
//! | word in the image's name | what happens |
//! |---|---|
//! | `missing`, `fail` | it cannot be pulled |
//! | `crash` | it exits with code 1 soon after every start |
//! | `oom` | it is killed for lack of memory soon after every start |
//! | `flaky` | it crashes now and then |
//! | `slow` | it takes twenty times as long to start |
//! | `long` | it writes a line of a mebibyte when it starts |
//! | `stuck` | its teardown takes ten times as long, and says what holds it |
//! | `refused` | the cluster refuses the manifest |
//!
//! Words are what stands between characters other than letters and digits, so `fail2ban` is an
//! image like any other and `example/web:crash` is not.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Behaviour {
    pub(super) missing: bool,
    pub(super) slow: bool,
    pub(super) long_line: bool,
    pub(super) stuck: bool,
    pub(super) refused: bool,
    pub(super) ends: Option<Ends>,
}

/// How a container comes to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ends {
    Crash,
    OutOfMemory,
    NowAndThen,
}

impl Behaviour {
    pub(super) fn of(image: &str) -> Self {
        let mut behaviour = Self::default();
        for word in image.split(|c: char| !c.is_ascii_alphanumeric()) {
            match word {
                "missing" | "fail" => behaviour.missing = true,
                "slow" => behaviour.slow = true,
                "long" => behaviour.long_line = true,
                "stuck" => behaviour.stuck = true,
                "refused" => behaviour.refused = true,
                "crash" => behaviour.ends = Some(Ends::Crash),
                "oom" => behaviour.ends = Some(Ends::OutOfMemory),
                "flaky" => behaviour.ends = Some(Ends::NowAndThen),
                _ => {}
            }
        }
        behaviour
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_count() {
        let usual = Behaviour::default();
        for image in ["nginx:1.27", "crazymax/fail2ban", "slowly/crashes", ""] {
            assert_eq!(Behaviour::of(image), usual, "{image}");
        }
        assert!(Behaviour::of("ghcr.io/x/missing@sha256:1").missing);
        assert_eq!(Behaviour::of("example/web:crash").ends, Some(Ends::Crash));
        let both = Behaviour::of("slow-oom");
        assert!(both.slow && both.ends == Some(Ends::OutOfMemory));
    }
}
