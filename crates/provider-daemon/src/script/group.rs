//! A process and all that it started.

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The group that a process leads. Dropping it kills everything in it.
#[derive(Debug)]
pub(super) struct Group(Pid);

impl Group {
    /// The group of a process that was started as the leader of one.
    pub(super) fn led_by(leader: u32) -> Option<Self> {
        Pid::from_raw(i32::try_from(leader).ok()?).map(Self)
    }

    /// Waits until the leader has ended, and leaves it to somebody else to fetch its status: until
    /// then nobody else can get its number, and killing the group kills nothing else.
    pub(super) async fn leader_ended(&self) {
        let leader = self.0;
        let wait = move || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
        };
        // A panic there would mean that nobody waited: the status is fetched all the same.
        let _ = tokio::task::spawn_blocking(wait).await;
    }

    /// Kills everything in it, at once.
    pub(super) fn kill(&self) {
        // It may be empty already.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
