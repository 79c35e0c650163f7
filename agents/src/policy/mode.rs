//! Which mode a child gets.

use offshoot_protocol::PermissionMode;

/// The narrower of the two: no agent's mode is wider than its parent's.
///
/// From narrow to wide: `plan` (reads only), `dont-ask` (what rules allow), `default` (and what a person allows),
/// `accept-edits`, `bypass`.
pub fn narrower(parent: PermissionMode, child: PermissionMode) -> PermissionMode {
    if width(child) > width(parent) { parent } else { child }
}

/// The mode of a child whose role asks for `wanted`, and what to tell when that is wider than `parent`.
pub fn child_mode(parent: PermissionMode, wanted: Option<PermissionMode>) -> (PermissionMode, Option<String>) {
    let Some(wanted) = wanted else { return (parent, None) };
    let mode = narrower(parent, wanted);
    let warning = (mode != wanted).then(|| {
        format!(
            "the role asks for permission `{}`, which is wider than its parent's `{}`; it runs in `{}`",
            name(wanted),
            name(parent),
            name(mode)
        )
    });
    (mode, warning)
}

/// The mode as it is written in files and on the command line.
pub fn name(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "default",
        PermissionMode::AcceptEdits => "accept-edits",
        PermissionMode::Plan => "plan",
        PermissionMode::DontAsk => "dont-ask",
        PermissionMode::Bypass => "bypass",
    }
}

fn width(mode: PermissionMode) -> u8 {
    match mode {
        PermissionMode::Plan => 0,
        PermissionMode::DontAsk => 1,
        PermissionMode::Default => 2,
        PermissionMode::AcceptEdits => 3,
        PermissionMode::Bypass => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::PermissionMode::{AcceptEdits, Bypass, Default, DontAsk, Plan};
    use super::*;

    #[test]
    fn a_child_is_never_wider_than_its_parent() {
        let all = [Plan, DontAsk, Default, AcceptEdits, Bypass];
        for parent in all {
            for child in all {
                assert!(width(narrower(parent, child)) <= width(parent));
                assert!(width(narrower(parent, child)) <= width(child));
            }
        }
    }

    #[test]
    fn a_wider_wish_is_refused_with_a_warning() {
        let (mode, warning) = child_mode(Default, Some(Bypass));
        assert_eq!(mode, Default);
        assert!(warning.unwrap().contains("`bypass`, which is wider than its parent's `default`"));
        assert_eq!(child_mode(Plan, Some(AcceptEdits)).0, Plan);
        assert_eq!(child_mode(Bypass, Some(Plan)), (Plan, None));
        assert_eq!(child_mode(AcceptEdits, None), (AcceptEdits, None));
    }
}
