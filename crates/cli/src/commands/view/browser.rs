//! The browser of the person at the screen.

/// `true` if there may be a screen: who is here through SSH sees no window, unless windows are forwarded.
pub(super) fn has_screen() -> bool {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_remote = ["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"].into_iter().any(is_set);
    !is_remote || ["DISPLAY", "WAYLAND_DISPLAY"].into_iter().any(is_set)
}

/// Opens an address. If there is no browser, the printed address is there.
pub(super) fn open(address: &str) {
    let _ = open::that_detached(address);
}
