//! Requests of the user to a program that runs: those that Callgrind answers, with its answers.

use std::fmt::Write as _;

use linux_raw_sys::general as sys;

use super::masks::STOP_SIGNAL;
use super::own_call::own_call;
use super::trigger::Trigger;
use super::{Call, Engine};
use crate::state::State;

/// Asks for a signal when the parent ends.
const SET_SIGNAL: u64 = linux_raw_sys::prctl::PR_SET_PDEATHSIG as u64;

impl Engine {
    /// Ends the program with the process that records it, if that is wanted.
    pub(crate) fn watch_parent(&self) {
        if self.options.parent.is_none() {
            return;
        }
        own_call(sys::__NR_prctl, [SET_SIGNAL, u64::from(STOP_SIGNAL), 0, 0, 0, 0]);
        self.look_at_parent();
    }

    /// Watches again after a system call with which the kernel forgets that, or that the program has used for itself.
    pub(super) fn watch_parent_again(&self, call: &Call) {
        let forgets = matches!(
            call.number as u32,
            sys::__NR_setuid
                | sys::__NR_setgid
                | sys::__NR_setreuid
                | sys::__NR_setregid
                | sys::__NR_setresuid
                | sys::__NR_setresgid
                | sys::__NR_setfsuid
                | sys::__NR_setfsgid
                | sys::__NR_capset
        );
        // After other calls of `prctl`, a filter of the program's may end the process for one more.
        let forgets = forgets || call.number == u64::from(sys::__NR_prctl) && call.arguments[0] == SET_SIGNAL;
        if forgets {
            self.watch_parent();
        }
    }

    fn look_at_parent(&self) {
        let process = std::process::id();
        let is_alone = |parent| parent_id().is_some_and(|now| now != parent);
        if self.options.parent.is_some_and(is_alone) {
            self.options.client.abandon(process);
            kill(process);
        }
    }

    /// Does what the user asks for, if there is a request.
    pub(super) fn serve(&mut self, state: &mut State) {
        let process = std::process::id();
        self.look_at_parent();
        let Some(request) = self.options.client.request(process) else { return };
        let answer = match request.split(' ').next().unwrap_or_default() {
            "status" => self.status(state),
            "dump" => {
                self.dump(state, &Trigger::Command(request));
                String::new()
            }
            "zero" => {
                self.zero(state, false);
                String::new()
            }
            "instrumentation" => {
                self.switch_counting(state, request.ends_with("on"));
                String::new()
            }
            "v.kill" => kill(process),
            _ => "unknown".to_owned(),
        };
        self.options.client.answer(process, &answer);
    }

    fn status(&self, state: &State) -> String {
        // What a thread has cost is known where it is not in translated code.
        self.stop_others(state);
        let bases = self.threads.bases();
        let cells = self.contexts.edges().iter().filter_map(|edge| edge.cells);
        let ended = cells.flat_map(|cells| bases.iter().map(move |base| cells.count().of(*base)));
        let others = self.threads.others(state);
        let active = others.iter().map(|other| other.frame_count()).sum::<u64>() + state.frame_count();
        let calls = ended.fold(active, u64::wrapping_add);
        let counting = if self.is_counted { "on" } else { "off" };
        let mut text = format!("instrumentation: {counting}\nevents: Ir\n");
        for (index, base) in bases.iter().enumerate() {
            let _ = writeln!(text, "events-{}: {}", index + 1, self.counted_so_far(*base));
        }
        let thread = bases.iter().position(|base| *base == state.own_address).map_or(1, |index| index + 1);
        let _ = writeln!(text, "distinct-functions: {}", self.contexts.function_count());
        let _ = writeln!(text, "executed-calls: {calls}\nthreads: {}", self.threads.live_count());
        let _ = writeln!(text, "part: {}\ncurrent-tid: {thread}", self.parts);
        let (current, _) = self.contexts.owner(self.current(state));
        if let Some(function) = self.contexts.function_of(current) {
            let name = self.contexts.function(function).name.clone().unwrap_or_default();
            let _ = writeln!(text, "function-{thread}-0: {}", String::from_utf8_lossy(&name));
        }
        text
    }
}

/// Returns the number of the parent. `None` if the program may not ask.
fn parent_id() -> Option<u32> {
    u32::try_from(own_call(sys::__NR_getppid, [0; 6])).ok().filter(|id| *id != 0)
}

fn kill(process: u32) -> ! {
    loop {
        own_call(sys::__NR_kill, [u64::from(process), u64::from(sys::SIGKILL), 0, 0, 0, 0]);
        // A program that may not send signals can end.
        own_call(sys::__NR_exit_group, [u64::from(128 + sys::SIGKILL), 0, 0, 0, 0, 0]);
    }
}
