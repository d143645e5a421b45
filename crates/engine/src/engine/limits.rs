//! Limits that the program sets itself. The engine needs memory and files of its own: limits of memory hold for that of the program,
//! and those of files are lifted while the engine writes.

use linux_raw_sys::errno::{EFAULT, EINVAL, EPERM};
use linux_raw_sys::general as sys;

use super::Engine;
use super::own_call::own_call;
use crate::address_space::{ANONYMOUS, STACK_BYTES, STACK_END, page_start};
use crate::inherited::{Inherited, LIMIT_COUNT, Limit};
use crate::memory;
use crate::raw;

/// The limits: of all memory, of memory that can be written, of the count of files, and of their size.
const RESOURCES: [u32; LIMIT_COUNT] =
    [sys::RLIMIT_AS, sys::RLIMIT_DATA, sys::RLIMIT_NOFILE, sys::RLIMIT_FSIZE];

/// The first limit that the kernel has as well, except for the highest that can be set.
const FIRST_OF_FILES: usize = 2;
const FILE_LIMITS: usize = LIMIT_COUNT - FIRST_OF_FILES;

/// The least limit that may hold for the engine, too. With less, programs would miss the memory that the engine takes.
const MIN_LIMIT_BYTES: u64 = 16 << 30;

/// The memory that stays for the engine under such a limit: to go on, and to write the profile.
const RESERVED_BYTES: u64 = 256 << 20;

/// The limits that the program has set.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Limits {
    own: [Option<Limit>; RESOURCES.len()],
    /// The memory that the program must leave, of all and of what can be written. 0 where no limit holds for the engine.
    reserved_bytes: [u64; FIRST_OF_FILES],
}

impl Limits {
    /// Takes over the limits of the process or, if the program takes the place of another one, those of that. Those of memory are lifted as far
    /// as they may be: they hold for the memory of the program.
    pub(crate) fn begin(inherited: Option<&Inherited>) -> Limits {
        if let Some(inherited) = inherited {
            return Limits { own: inherited.limits, reserved_bytes: reserved_bytes() };
        }
        let mut limits = Limits::default();
        for (resource, own) in RESOURCES[..FIRST_OF_FILES].iter().zip(&mut limits.own) {
            *own = Some(of_kernel(*resource)).filter(|[limit, _]| *limit != u64::MAX);
        }
        limits.lift();
        Limits { reserved_bytes: reserved_bytes(), ..limits }
    }

    /// Returns the lowest limit of the memory of the process. `None` if there is none.
    pub(crate) fn of_memory() -> Option<u64> {
        let limits = RESOURCES[..FIRST_OF_FILES].iter().map(|resource| of_kernel(*resource)[0]);
        limits.min().filter(|limit| *limit != u64::MAX)
    }

    /// Returns a limit of memory that is too low for program and engine together and cannot be raised.
    pub(crate) fn too_low() -> Option<u64> {
        let memory = RESOURCES[..FIRST_OF_FILES].iter();
        memory
            .filter_map(|resource| {
                let before @ [limit, highest] = of_kernel(*resource);
                let can_be_raised = highest >= MIN_LIMIT_BYTES || {
                    let raised = set(*resource, [limit, u64::MAX]);
                    set(*resource, before);
                    raw::error_of(raised).is_none()
                };
                (!can_be_raised).then_some(highest)
            })
            .min()
    }

    fn index(resource: u64) -> Option<usize> {
        RESOURCES.iter().position(|own| u64::from(*own) == resource)
    }

    fn get(&self, index: usize) -> Limit {
        self.own[index].unwrap_or_else(|| of_kernel(RESOURCES[index]))
    }

    /// Returns those that were set.
    pub(super) fn own(&self) -> [Option<Limit>; RESOURCES.len()] {
        self.own
    }

    /// `true` if the program has set some.
    pub(super) fn are_set(&self) -> bool {
        self.own != [None; LIMIT_COUNT]
    }

    /// Sets the limits of the process, for a program that takes the place of this one and is not recorded.
    pub(super) fn apply(&self) {
        for (resource, limit) in RESOURCES.iter().zip(self.own) {
            if let Some(limit) = limit {
                set(*resource, limit);
            }
        }
    }

    /// Lifts the limits of the process again, as far as it may.
    pub(super) fn lift(&self) {
        for (resource, limit) in RESOURCES.iter().zip(self.own) {
            if let Some([_, highest]) = limit {
                set(*resource, [u64::MAX; 2]);
                set(*resource, [of_kernel(*resource)[1].max(highest); 2]);
            }
        }
    }

    /// Lets the engine have files, and returns the limits that held.
    pub(super) fn lift_files() -> [Limit; FILE_LIMITS] {
        let before = std::array::from_fn(|index| of_kernel(RESOURCES[FIRST_OF_FILES + index]));
        for (resource, [_, highest]) in RESOURCES[FIRST_OF_FILES..].iter().zip(before) {
            set(*resource, [highest; 2]);
        }
        before
    }

    /// Lets the limits of files hold for the program again.
    pub(super) fn restore_files(before: [Limit; FILE_LIMITS]) {
        for (resource, limit) in RESOURCES[FIRST_OF_FILES..].iter().zip(before) {
            set(*resource, limit);
        }
    }

    /// Sets the limits of files of a program that takes the place of another one.
    pub(super) fn begin_in_place(&self) {
        for (resource, limit) in RESOURCES.iter().zip(self.own).skip(FIRST_OF_FILES) {
            if let Some([limit, _]) = limit {
                let highest = of_kernel(*resource)[1];
                set(*resource, [limit.min(highest), highest]);
            }
        }
    }
}

/// `true` if a system call is about a limit that the engine looks at.
pub(super) fn is_ours(resource: u64) -> bool {
    Limits::index(resource).is_some()
}

/// `true` if memory that is added to some exceeds a limit.
fn exceeds(limit: Option<Limit>, used: u64, added: u64) -> bool {
    limit.is_some_and(|[limit, _]| limit != u64::MAX && used.saturating_add(added) > limit)
}

fn reserved_bytes() -> [u64; FIRST_OF_FILES] {
    std::array::from_fn(|index| if of_kernel(RESOURCES[index])[0] == u64::MAX { 0 } else { RESERVED_BYTES })
}

/// `true` if the process can have that much more memory with this protection.
fn has_memory(length: u64, protection: u32) -> bool {
    let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE;
    let arguments = [0, length, u64::from(protection), u64::from(flags), u64::MAX, 0];
    let mapped = own_call(sys::__NR_mmap, arguments);
    raw::error_of(mapped).is_none() && own_call(sys::__NR_munmap, [mapped as u64, length, 0, 0, 0, 0]) == 0
}

fn of_kernel(resource: u32) -> Limit {
    let mut limit = [u64::MAX; 2];
    own_call(sys::__NR_prlimit64, [0, u64::from(resource), 0, limit.as_mut_ptr() as u64, 0, 0]);
    limit
}

fn set(resource: u32, limit: Limit) -> i64 {
    own_call(sys::__NR_prlimit64, [0, u64::from(resource), limit.as_ptr() as u64, 0, 0, 0])
}

impl Engine {
    /// `prlimit`, `setrlimit` and `getrlimit` of this process, for a limit that the engine looks at.
    pub(super) fn limit(&mut self, resource: u64, new: u64, old: u64) -> i64 {
        let failed = |error: u32| -i64::from(error);
        let Some(index) = Limits::index(resource) else { return failed(EINVAL) };
        let before = self.limits.get(index);
        let mut wanted = [0; 2];
        if new != 0 && !memory::read_words(&self.space, new, &mut wanted) {
            return failed(EFAULT);
        }
        if new != 0 && wanted[0] > wanted[1] {
            return failed(EINVAL);
        }
        if new != 0 && wanted[1] > before[1] && own_call(sys::__NR_geteuid, [0; 6]) != 0 {
            return failed(EPERM);
        }
        if old != 0 && !memory::write_words(&self.space, old, &before) {
            return failed(EFAULT);
        }
        if new != 0 {
            if index >= FIRST_OF_FILES {
                let highest = of_kernel(RESOURCES[index])[1].max(wanted[1]);
                let result = set(RESOURCES[index], [wanted[0], highest]);
                if raw::error_of(result).is_some() {
                    return result;
                }
            }
            self.limits.own[index] = Some(wanted);
        }
        0
    }

    /// Sets the limit of the stack by a system call. The kernel lets a stack grow up to the limit of the moment; here it is mapped as a whole.
    pub(super) fn limit_of_stack(&mut self, number: u32, arguments: [u64; 6]) -> i64 {
        let result = own_call(number, arguments);
        let [limit, _] = of_kernel(sys::RLIMIT_STACK);
        let new = STACK_END - page_start(limit.min(*STACK_BYTES.end()));
        if raw::error_of(result).is_none()
            && let Some(start) = self.space.start(STACK_END - 1).filter(|start| new < *start)
            && self.space.is_free(new, start - new)
        {
            let access = sys::PROT_READ | sys::PROT_WRITE;
            let flags = sys::MAP_PRIVATE | sys::MAP_ANONYMOUS | sys::MAP_NORESERVE | sys::MAP_FIXED_NOREPLACE;
            let mapping = [new, start - new, u64::from(access), u64::from(flags), u64::MAX, 0];
            if raw::error_of(own_call(sys::__NR_mmap, mapping)).is_none() {
                let protection = self.space.protection(start).unwrap_or(access | ANONYMOUS);
                self.space.add(new, start - new, protection);
                self.space.leave_uncounted(start - new);
            }
        }
        result
    }

    /// `true` if the program may not have that much more memory. It takes the place of this much, which does not count.
    pub(super) fn is_beyond_limit(&self, length: u64, protection: u32, replaced: u64) -> bool {
        let [all, ..] = self.limits.own;
        let [reserved, _] = self.limits.reserved_bytes;
        let added = length.saturating_sub(replaced);
        let writable = if protection & sys::PROT_WRITE == 0 { 0 } else { added };
        exceeds(all, self.space.mapped_bytes(), added)
            || self.is_beyond_limit_of_data(writable)
            // What replaces memory takes none of the engine's.
            || reserved > 0 && added > 0 && !has_memory(reserved.saturating_add(added), sys::PROT_NONE)
    }

    /// `true` if the program may not have that much more memory that can be written, also where it only changes the protection.
    pub(super) fn is_beyond_limit_of_data(&self, added: u64) -> bool {
        let [_, data, ..] = self.limits.own;
        let [_, reserved] = self.limits.reserved_bytes;
        let access = sys::PROT_READ | sys::PROT_WRITE;
        added > 0
            && (exceeds(data, self.space.writable_bytes(), added)
                || reserved > 0 && !has_memory(reserved.saturating_add(added), access))
    }
}
