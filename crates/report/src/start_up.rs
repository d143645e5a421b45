//! Start-up code: what runs before the code of the program.

use crate::path::base;

/// Returns `true` for a function that starts programs or threads and that nobody looks for: code before `main`, and what
/// runtimes put around `main` and around the first function of a thread.
pub(crate) fn is_start_up(name: &str) -> bool {
    // Recursion levels and recorded callers follow the name.
    let base = name.split('\'').next().unwrap_or(name);
    name.starts_with("0x")
        || name.starts_with("(below")
        || base == "_start"
        || base.starts_with("__libc_start")
        || matches!(base, "clone" | "clone3" | "__clone" | "start_thread")
        || base.starts_with("std::rt::lang_start")
        || base.starts_with("std::sys::backtrace::__rust_begin_short_backtrace")
        || base.starts_with("std::sys_common::backtrace::__rust_begin_short_backtrace")
}

/// Returns `true` for start-up code, and for the functions between it and the code of a program or script: `main` and the
/// entries of interpreters. They matter if they have a self cost.
pub(crate) fn is_entry(name: &str) -> bool {
    let base = name.split('\'').next().unwrap_or(name);
    is_start_up(name)
        || matches!(
            base,
            "main" | "Py_BytesMain" | "Py_Main" | "Py_RunMain" | "pymain_main" | "pymain_run_python"
        )
        || matches!(base, "perl_run" | "S_run_body" | "ruby_run_node" | "rb_ec_exec_node")
        || base.starts_with("core::ops::function::FnOnce::call_once")
}

/// Returns `true` for the object that loads the libraries of a program.
pub(crate) fn is_loader(object: &str) -> bool {
    let name = base(object);
    ["ld-", "ld.so", "ld64.so"].iter().any(|start| name.starts_with(start)) && name.contains(".so")
        || name == "dyld"
}

#[cfg(test)]
mod tests {
    use super::{is_entry, is_loader, is_start_up};

    #[test]
    fn loaders_are_known() {
        for object in
            ["/usr/lib/ld-linux-x86-64.so.2", "ld-2.31.so", "/lib/ld-musl-aarch64.so.1", "/usr/lib/dyld"]
        {
            assert!(is_loader(object), "{object}");
        }
        for object in ["", "/usr/bin/ld", "libld.so", "/usr/bin/ld-parser"] {
            assert!(!is_loader(object), "{object}");
        }
    }

    #[test]
    fn entries_are_known() {
        for name in ["main", "(below main)", "Py_BytesMain", "perl_run", "std::rt::lang_start<()>"] {
            assert!(is_entry(name), "{name}");
        }
        for name in ["main_loop", "app::main", "Perl_runops_standard", "run"] {
            assert!(!is_entry(name), "{name}");
        }
    }

    #[test]
    fn start_up_code_is_known() {
        for name in [
            "(below main)",
            "(below main)'2",
            "0x0000000000001f80",
            "_start",
            "__libc_start_main@@GLIBC_2.34",
        ] {
            assert!(is_start_up(name), "{name}");
        }
        for name in ["std::rt::lang_start::{{closure}}", "std::rt::lang_start<()>", "clone", "start_thread"] {
            assert!(is_start_up(name), "{name}");
        }
        for name in ["main", "{main}", "_start_of_mine", "clone_row", "std::rt::park"] {
            assert!(!is_start_up(name), "{name}");
        }
    }
}
