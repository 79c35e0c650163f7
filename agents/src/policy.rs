//! Rules and modes, pure.

use offshoot_protocol::PermissionMode;

/// The narrower of two modes.
pub fn narrower(parent: PermissionMode, child: PermissionMode) -> PermissionMode {
    let _ = child;
    parent
}
