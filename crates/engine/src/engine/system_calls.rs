//! System calls of the program: most go to the kernel as they are, those that change memory, code or processes are looked at.
#![allow(unsafe_code)]

use linux_raw_sys::errno::{EAGAIN, EEXIST, EFAULT, EINTR, EINVAL, ENOMEM, ENOSYS, EPERM};
use linux_raw_sys::general as sys;

use super::execute::Execution;
use super::limits::{Limits, is_ours};
use super::masks::{self, STOP_SIGNAL, without_stop};
use super::master_handler::TRAP_FLAG;
use super::own_call::own_call;
use super::{Call, Engine, Step};
use crate::address_space::{
    ANONYMOUS, BREAK_BYTES, MAX_CODE_ADDRESS, PAGE_BYTES, SHARED, page_end, page_start, protection_of_host,
};
use crate::contexts::ContextId;
use crate::memory;
use crate::raw;
use crate::state::State;
use crate::switch;

/// The length of the instruction.
const SYSTEM_CALL_BYTES: u64 = 2;

const ARCH_SET_GS: u64 = 0x1001;
const ARCH_SET_FS: u64 = 0x1002;
const ARCH_GET_FS: u64 = 0x1003;
const ARCH_GET_GS: u64 = 0x1004;

/// The usual size of large pages, and the flag for them of shared memory.
const LARGE_PAGE_BYTES: u64 = 2 << 20;
const SHM_HUGETLB: u64 = 0o4000;
const SHM_RDONLY: u64 = 0o1_0000;
const SHM_EXEC: u64 = 0o10_0000;

/// Returns the size of the large pages that a mapping is to have.
fn large_page(flags: u32) -> Option<u64> {
    let power = flags >> sys::MAP_HUGE_SHIFT & sys::MAP_HUGE_MASK;
    let size = if power == 0 { LARGE_PAGE_BYTES } else { 1 << power };
    (flags & sys::MAP_HUGETLB != 0).then_some(size)
}

/// Returns an error as the result of a system call.
fn failed(error: u32) -> i64 {
    -i64::from(error)
}

/// The fate of a system call.
enum Outcome {
    Result(i64),
    /// The kernel makes it, with these arguments. It can wait.
    Kernel([u64; 6]),
    EndOfThread,
}

impl Engine {
    /// Makes a system call of the program. It goes on at `next` in a context.
    pub(super) fn system_call(&mut self, state: &mut State, next: u64, context: ContextId) -> Step {
        let number = state.gpr[0];
        let arguments = [state.gpr[7], state.gpr[6], state.gpr[2], state.gpr[10], state.gpr[8], state.gpr[9]];
        // The processor leaves these two behind.
        state.gpr[1] = next;
        state.gpr[11] = state.flags & !TRAP_FLAG;
        if number == u64::from(sys::__NR_rt_sigreturn) {
            self.return_from_handler(state, next - SYSTEM_CALL_BYTES, context);
            return Step::Run;
        }
        match self.result(state, number as u32, arguments, next) {
            Outcome::Result(result) => {
                self.end_call(state, next, context, result);
                Step::Run
            }
            Outcome::Kernel(arguments) => {
                let arguments = self.with_rest_of_time(state, number, next, arguments);
                Step::Call(Call { number, arguments, next, context })
            }
            Outcome::EndOfThread => Step::End,
        }
    }

    /// Goes on after a system call.
    pub(super) fn end_call(&mut self, state: &mut State, next: u64, context: ContextId, result: i64) {
        // A signal of the engine's own is no reason for the program to see that a call was interrupted.
        let is_own = state.pending == u64::from(STOP_SIGNAL) && result == failed(EINTR);
        let has_waited = std::mem::take(&mut state.has_temporary_mask) && result == failed(EINTR);
        if masks::take_back(state) {
            self.signals.take_back();
        }
        if masks::was_held_back(state) && state.pending == 0 && result == failed(EINTR) {
            // Nor is one that the program blocks or ignores.
            if let Some(wait) = &mut state.wait {
                wait.is_interrupted = true;
            }
            return self.go_to(state, next - SYSTEM_CALL_BYTES, context);
        }
        masks::let_held_faults_come(state);
        if result == switch::RESTART || is_own {
            if let Some(wait) = &mut state.wait {
                wait.is_interrupted = state.pending == u64::from(STOP_SIGNAL);
            }
            // The signal comes first, and the call is made when its handler has returned.
            return self.deliver(state, next - SYSTEM_CALL_BYTES, context);
        }
        state.gpr[0] = result as u64;
        let must_flush = self.retired.must_flush();
        if must_flush {
            self.flush(state);
        }
        if must_flush || !self.is_current(state, context) {
            self.go_to(state, next, context);
        }
        if masks::pending(state) != 0 {
            // The kernel sets the mask before the call again when the handler returns.
            let mask = if has_waited { state.mask } else { state.saved_mask };
            self.deliver_under(state, next, context, mask);
        }
    }

    fn result(&mut self, state: &mut State, number: u32, arguments: [u64; 6], next: u64) -> Outcome {
        let [first, second, third, fourth, ..] = arguments;
        let result = match number {
            sys::__NR_exit if self.threads.live_count() > 1 => {
                self.end_thread(state);
                return Outcome::EndOfThread;
            }
            sys::__NR_exit | sys::__NR_exit_group => self.end(state, first as u8),
            sys::__NR_clone if first & u64::from(sys::CLONE_THREAD) != 0 => {
                self.start_thread(state, arguments, next)
            }
            sys::__NR_set_tid_address => {
                state.cleared_at_end = first;
                i64::from(state.thread)
            }
            sys::__NR_set_robust_list => {
                state.robust_list = first;
                return Outcome::Kernel(arguments);
            }
            sys::__NR_rt_sigsuspend
            | sys::__NR_ppoll
            | sys::__NR_pselect6
            | sys::__NR_io_pgetevents
            | sys::__NR_epoll_pwait
            | sys::__NR_epoll_pwait2
            | sys::__NR_io_uring_enter
            | sys::__NR_rt_sigtimedwait
            | sys::__NR_signalfd
            | sys::__NR_signalfd4 => {
                return Outcome::Kernel(self.with_own_mask(state, number, arguments));
            }
            sys::__NR_rt_sigprocmask if fourth == 8 => {
                let mut words = [0];
                if second != 0 && !memory::read_words(&self.space, second, &mut words) {
                    return Outcome::Result(failed(EFAULT));
                }
                if !masks::is_for_kernel(state, words[0]) {
                    let set = (second != 0).then_some(words[0]);
                    return Outcome::Result(self.change_mask(state, first, set, third));
                }
                if second == 0 {
                    return Outcome::Kernel(arguments);
                }
                // The kernel reads it while the lock is free, from where only this thread writes.
                state.mask = without_stop(words[0]);
                let mask = &raw const state.mask as u64;
                return Outcome::Kernel([first, mask, third, fourth, 0, 0]);
            }
            sys::__NR_brk => self.set_break(first),
            sys::__NR_mmap => self.map(arguments),
            sys::__NR_munmap => self.unmap(first, second),
            sys::__NR_mprotect => self.protect(first, second, third as u32),
            sys::__NR_pkey_mprotect if fourth == u64::MAX => self.protect(first, second, third as u32),
            sys::__NR_mremap => self.remap(arguments),
            sys::__NR_mlockall => self.lock_all(state, first as u32),
            sys::__NR_munlockall => self.unlock_all(),
            sys::__NR_mlock | sys::__NR_mlock2 | sys::__NR_munlock if self.locks_foreign(first, second) => {
                failed(ENOMEM)
            }
            sys::__NR_shmat => self.attach(arguments),
            sys::__NR_shmdt => self.detach(first),
            sys::__NR_arch_prctl => self.thread_area(state, first, second),
            sys::__NR_clone => self.clone_process(state, arguments),
            sys::__NR_fork => self.fork(state),
            sys::__NR_vfork => self.vfork(state),
            sys::__NR_execve | sys::__NR_execveat => {
                let arguments = self.with_own_program(number, arguments);
                match self.execute(state, number, arguments) {
                    Execution::Failed(error) => error,
                    Execution::ByKernel => return Outcome::Kernel(arguments),
                }
            }
            sys::__NR_setrlimit if is_ours(first) => self.limit(first, second, 0),
            sys::__NR_getrlimit if is_ours(first) => self.limit(first, 0, second),
            sys::__NR_prlimit64 if is_ours(second) && is_own_process(first) => {
                self.limit(second, third, fourth)
            }
            sys::__NR_setrlimit if first == u64::from(sys::RLIMIT_STACK) => {
                self.limit_of_stack(number, arguments)
            }
            sys::__NR_prlimit64 if second == u64::from(sys::RLIMIT_STACK) && is_own_process(first) => {
                self.limit_of_stack(number, arguments)
            }
            sys::__NR_readlink if self.is_own_program(first) => self.read_own_link(second, third),
            sys::__NR_readlinkat if self.is_own_program(second) => self.read_own_link(third, fourth),
            sys::__NR_open => match self.open_own_file(first, second, third) {
                Some(result) => result,
                None => return Outcome::Kernel(arguments),
            },
            sys::__NR_openat => match self.open_own_file(second, third, fourth) {
                Some(result) => result,
                None => return Outcome::Kernel(arguments),
            },
            sys::__NR_rt_sigaction => self.set_action(arguments),
            sys::__NR_sigaltstack => self.set_alternative_stack(state, first, second),
            // Those that Valgrind does not know either, so that programs take the same way.
            sys::__NR_rseq
            | sys::__NR_clone3
            | sys::__NR_modify_ldt
            | sys::__NR_remap_file_pages
            | sys::__NR_pkey_mprotect
            | sys::__NR_pkey_alloc
            | sys::__NR_map_shadow_stack
            | sys::__NR_userfaultfd => failed(ENOSYS),
            // Calls that change the mappings of the engine are above; what others write to is the program's.
            _ => return Outcome::Kernel(arguments),
        };
        Outcome::Result(result)
    }

    /// Returns the address of a new mapping, which may be asked for at an address. `None` if there is none.
    fn choose_address(
        &mut self,
        hint: u64,
        length: u64,
        alignment: u64,
        protection: u32,
        flags: u32,
    ) -> Option<u64> {
        let is_possible = hint != 0 && hint.is_multiple_of(alignment) && self.space.is_free(hint, length);
        // Code is best below 2 GB. What is reserved without access can become code, and the dynamic linker maps a library as its first
        // segment, which can be data.
        let must_be_near = flags & sys::MAP_32BIT != 0;
        let can_run = protection == sys::PROT_NONE || protection & sys::PROT_EXEC != 0;
        let is_of_file = flags & (sys::MAP_ANONYMOUS | sys::MAP_TYPE) == sys::MAP_PRIVATE;
        // A program that gives it back and asks again needs another one.
        let is_asked_again = self
            .instead_of_hint
            .take()
            .is_some_and(|(instead, of_length)| of_length == length && self.space.is_free(instead, length));
        let is_far = hint.saturating_add(length) > MAX_CODE_ADDRESS;
        if is_possible && !(is_far && (must_be_near || can_run && !is_asked_again)) {
            return Some(hint);
        }
        let found = self.space.find(length, alignment, must_be_near || can_run || is_of_file);
        let near = found.filter(|found| found + length <= MAX_CODE_ADDRESS);
        if is_possible {
            self.instead_of_hint = near.map(|near| (near, length));
        }
        match (must_be_near, is_possible) {
            (true, _) => near,
            (false, true) => near.or(Some(hint)),
            (false, false) => found,
        }
    }

    fn set_break(&mut self, wanted: u64) -> i64 {
        if wanted < self.brk_start || wanted > self.brk_start + BREAK_BYTES {
            return self.brk as i64;
        }
        let (old, new) = (page_end(self.brk), page_end(wanted));
        if new > old && self.is_beyond_limit(new - old, sys::PROT_WRITE, 0) {
            return self.brk as i64;
        }
        if new > old {
            let access = sys::PROT_READ | sys::PROT_WRITE;
            let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | self.future_locks.flag();
            // SAFETY: the range is kept for this, and nothing is mapped behind the old end.
            let result = unsafe { raw::map_fixed(old, new - old, access, flags, -1, 0) };
            if raw::error_of(result).is_some() {
                return self.brk as i64;
            }
            if !self.future_locks.lock(old, new - old) {
                own_call(sys::__NR_munmap, [old, new - old, 0, 0, 0, 0]);
                return self.brk as i64;
            }
            self.space.add(old, new - old, access | ANONYMOUS);
        } else if new < old {
            own_call(sys::__NR_munmap, [new, old - new, 0, 0, 0, 0]);
            self.space.remove(new, old - new);
        }
        self.brk = wanted;
        wanted as i64
    }

    fn map(&mut self, arguments: [u64; 6]) -> i64 {
        let [hint, length, protection, flags, file, offset] = arguments;
        let (protection, flags, file) = (protection as u32, flags as u32, file as i32);
        if length == 0 || length > 1 << 46 || offset % PAGE_BYTES != 0 {
            return failed(if length > 1 << 46 { ENOMEM } else { EINVAL });
        }
        // What it replaces is free before.
        let replaced = if flags & sys::MAP_FIXED == 0 { 0 } else { self.space.bytes_in(hint, length) };
        let own = if flags & sys::MAP_TYPE == sys::MAP_PRIVATE { protection } else { 0 };
        if self.is_beyond_limit(page_end(length), own, replaced) {
            return failed(ENOMEM);
        }
        let is_fixed = flags & (sys::MAP_FIXED | sys::MAP_FIXED_NOREPLACE) != 0;
        let alignment = large_page(flags).unwrap_or(PAGE_BYTES);
        let mut length = page_end(length).next_multiple_of(alignment);
        let address = if is_fixed {
            if hint % PAGE_BYTES != 0 {
                return failed(EINVAL);
            }
            if flags & sys::MAP_FIXED == 0 && !self.space.is_free(hint, length) {
                return failed(EEXIST);
            }
            if self.space.is_foreign(hint, length) {
                return failed(ENOMEM);
            }
            Some(hint)
        } else {
            self.choose_address(page_start(hint), length, alignment, protection, flags)
        };
        let Some(address) = address else { return failed(ENOMEM) };
        let flags = flags & !(sys::MAP_FIXED_NOREPLACE | sys::MAP_32BIT) | self.future_locks.flag();
        let host = protection_of_host(protection);
        // SAFETY: the range is free, or the program's.
        let mut result = unsafe { raw::map_fixed(address, length, host, flags, file, offset) };
        if result == failed(EINVAL) && !is_fixed && flags & sys::MAP_ANONYMOUS == 0 {
            result = self.map_special(&mut length, host, flags, file, offset);
        }
        if raw::error_of(result).is_some() {
            return result;
        }
        let address = result as u64;
        if !self.future_locks.lock(address, length) && !is_fixed {
            own_call(sys::__NR_munmap, [address, length, 0, 0, 0, 0]);
            return failed(EAGAIN);
        }
        let can_run = protection & sys::PROT_EXEC != 0;
        match flags & sys::MAP_ANONYMOUS != 0 {
            // A copy of the code that was here, as in large pages, keeps its functions, as under Callgrind.
            true if can_run || self.space.has_code(address, length) => {
                self.forget_translations(address, length)
            }
            true => {}
            false if can_run => self.forget_range(address, length),
            false => self.forget_code(address, length),
        }
        let shared = if flags & sys::MAP_TYPE == sys::MAP_PRIVATE { 0 } else { SHARED };
        let anonymous = if flags & sys::MAP_ANONYMOUS == 0 { 0 } else { ANONYMOUS };
        self.space.add(address, length, protection | shared | anonymous);
        if protection & sys::PROT_EXEC != 0 && flags & sys::MAP_ANONYMOUS == 0 {
            use std::os::unix::ffi::OsStrExt as _;
            let limits = Limits::lift_files();
            if let Ok(path) = std::fs::read_link(format!("/proc/self/fd/{file}")) {
                self.objects.add(path.as_os_str().as_bytes(), address, page_end(length), offset);
            }
            Limits::restore_files(limits);
        }
        result
    }

    /// Maps a file that cannot be mapped at any address: one of large pages, whose length is a multiple of theirs, or one of the kernel,
    /// which chooses the address.
    fn map_special(&mut self, length: &mut u64, protection: u32, flags: u32, file: i32, offset: u64) -> i64 {
        let mut status = [0u64; 18];
        let read = own_call(sys::__NR_fstat, [file as u64, status.as_mut_ptr() as u64, 0, 0, 0, 0]);
        // The size of its blocks, behind the size of the file.
        let alignment = status[7];
        if read == 0 && alignment.is_power_of_two() && alignment > PAGE_BYTES {
            let large = length.next_multiple_of(alignment);
            let Some(address) = self.space.find(large, alignment, false) else { return failed(ENOMEM) };
            // SAFETY: the range is free.
            let result = unsafe { raw::map_fixed(address, large, protection, flags, file, offset) };
            if raw::error_of(result).is_none() {
                *length = large;
                return result;
            }
        }
        let arguments = [0, *length, u64::from(protection), u64::from(flags), file as u64, offset];
        own_call(sys::__NR_mmap, arguments)
    }

    fn unmap(&mut self, address: u64, length: u64) -> i64 {
        if self.space.is_foreign(address, length) {
            return failed(EINVAL);
        }
        let result = own_call(sys::__NR_munmap, [address, length, 0, 0, 0, 0]);
        if result == 0 {
            self.forget_code(address, length);
            self.space.remove(address, length);
        }
        result
    }

    fn protect(&mut self, mut address: u64, mut length: u64, protection: u32) -> i64 {
        if protection & sys::PROT_GROWSDOWN != 0
            && let Some(start) = self.space.start(address)
        {
            (address, length) = (start, length.saturating_add(address - start));
        }
        let protection = protection & !sys::PROT_GROWSDOWN;
        let can_be_written = protection & sys::PROT_WRITE != 0;
        let added = if can_be_written { self.space.read_only_bytes_in(address, length) } else { 0 };
        if self.space.is_foreign(address, length) || self.is_beyond_limit_of_data(added) {
            return failed(ENOMEM);
        }
        let result = self.protect_all(address, length, protection);
        if result != 0 {
            // The kernel changes mappings up to the first that it refuses, or that is not there.
            let end = address.checked_add(length).unwrap_or(address);
            while address < end
                && let Some(mapping_end) = self.space.end(address)
                && self.protect_all(address, mapping_end.min(end) - address, protection) == 0
            {
                address = mapping_end;
            }
        }
        result
    }

    fn protect_all(&mut self, address: u64, length: u64, protection: u32) -> i64 {
        let host = u64::from(protection_of_host(protection));
        let result = own_call(sys::__NR_mprotect, [address, length, host, 0, 0, 0]);
        if result == 0 && length > 0 {
            // Blocks of code that the program makes look for changes of it, as long as they can read it.
            let can_change = protection & (sys::PROT_WRITE | sys::PROT_EXEC) != 0;
            let looks = can_change
                && host & u64::from(sys::PROT_READ) != 0
                && self.space.is_anonymous(address, length);
            let stays = looks || protection & (sys::PROT_WRITE | sys::PROT_EXEC) == sys::PROT_EXEC;
            if !stays && self.space.has_code(address, length) {
                self.forget_translations(address, length);
            }
            let kept = sys::PROT_READ | sys::PROT_WRITE | sys::PROT_EXEC;
            self.space.protect(address, length, protection & kept);
        }
        result
    }

    fn remap(&mut self, arguments: [u64; 6]) -> i64 {
        let [old, old_length, new_length, flags, fixed, _] = arguments;
        let flags = flags as u32;
        let Some(protection) = self.space.protection(old) else { return failed(EINVAL) };
        if self.space.is_foreign(old, old_length) || new_length == 0 || new_length > 1 << 46 {
            return failed(EINVAL);
        }
        let (old_end, new_end) = (page_end(old + old_length), page_end(old + new_length));
        let grows = new_end > old_end;
        let own = if protection & SHARED == 0 { protection } else { 0 };
        if grows && self.is_beyond_limit(new_end - old_end, own, 0) {
            return failed(ENOMEM);
        }
        let fits = !grows || self.space.is_free(old_end, new_end - old_end);
        let (target, flags) = if flags & sys::MREMAP_FIXED != 0 {
            if self.space.is_foreign(fixed, new_length) {
                return failed(EINVAL);
            }
            (fixed, flags)
        } else if fits && flags & sys::MREMAP_DONTUNMAP == 0 {
            (old, 0)
        } else if flags & sys::MREMAP_MAYMOVE != 0 {
            match self.space.find(new_length, PAGE_BYTES, protection & sys::PROT_EXEC != 0) {
                Some(target) => (target, flags | sys::MREMAP_FIXED),
                None => return failed(ENOMEM),
            }
        } else {
            return failed(ENOMEM);
        };
        let result = own_call(sys::__NR_mremap, [old, old_length, new_length, u64::from(flags), target, 0]);
        if raw::error_of(result).is_some() {
            return result;
        }
        if target == old && !grows {
            self.forget_code(new_end, old_end - new_end);
            self.space.remove(new_end, old_end - new_end);
            return result;
        }
        self.forget_code(old, old_length);
        if flags & sys::MREMAP_DONTUNMAP == 0 {
            self.space.remove(old, old_length);
        }
        if protection & ANONYMOUS == 0 {
            self.forget_code(target, new_length);
        } else if self.space.has_code(target, new_length) {
            self.forget_translations(target, new_length);
        }
        self.space.add(target, new_length, protection);
        result
    }

    /// Attaches shared memory.
    fn attach(&mut self, arguments: [u64; 6]) -> i64 {
        let [id, hint, flags, ..] = arguments;
        let mut status = [0u64; 32];
        let read = own_call(sys::__NR_shmctl, [id, 2, status.as_mut_ptr() as u64, 0, 0, 0]);
        if raw::error_of(read).is_some() {
            return read;
        }
        // The size follows the permissions, which have 48 bytes.
        let length = page_end(status[6]);
        let alignment = if flags & SHM_HUGETLB == 0 { PAGE_BYTES } else { LARGE_PAGE_BYTES };
        let address = if hint == 0 { self.space.find(length, alignment, false) } else { Some(hint) };
        let Some(address) = address.filter(|address| !self.space.is_foreign(*address, length)) else {
            return failed(ENOMEM);
        };
        let result = own_call(sys::__NR_shmat, [id, address, flags & !SHM_EXEC, 0, 0, 0]);
        if raw::error_of(result).is_none() {
            let address = result as u64;
            let write = if flags & SHM_RDONLY == 0 { sys::PROT_WRITE } else { 0 };
            let run = if flags & SHM_EXEC == 0 { 0 } else { sys::PROT_EXEC };
            self.future_locks.lock_attached(address, length);
            self.forget_code(address, length);
            self.space.add(address, length, sys::PROT_READ | write | run | SHARED);
            self.attached.insert(address, length);
        }
        result
    }

    /// Detaches shared memory.
    fn detach(&mut self, address: u64) -> i64 {
        let result = own_call(sys::__NR_shmdt, [address, 0, 0, 0, 0, 0]);
        if result == 0
            && let Some(length) = self.attached.remove(&address)
        {
            self.forget_code(address, length);
            self.space.remove(address, length);
        }
        result
    }

    fn thread_area(&mut self, state: &mut State, code: u64, value: u64) -> i64 {
        match code {
            ARCH_SET_FS if value < 1 << 47 => {
                state.guest_fs = value;
                0
            }
            ARCH_SET_FS => failed(EPERM),
            ARCH_GET_FS => match memory::write(&self.space, value, state.guest_fs) {
                true => 0,
                false => failed(linux_raw_sys::errno::EFAULT),
            },
            ARCH_SET_GS | ARCH_GET_GS => failed(EPERM),
            _ => failed(EINVAL),
        }
    }
}

/// `true` if the number of a process is that of this one, as calls take it.
fn is_own_process(process: u64) -> bool {
    process == 0 || process == u64::from(std::process::id())
}
