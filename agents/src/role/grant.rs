//! One entry of a role's `tools` or `disallowed_tools`: a tool, and perhaps what of it.

/// An entry, taken apart: `Bash(git diff *)` is the tool `Bash` and the argument `git diff *`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grant<'t> {
    /// The tool's name. `mcp__server` and `mcp__server__*` stand for all tools of a server, `*` for all tools.
    pub tool: &'t str,
    /// What stands in the parentheses, if there are any.
    pub argument: Option<&'t str>,
}

impl<'t> Grant<'t> {
    /// Takes an entry apart. Nothing where the parentheses don't close at its end, or no name stands before them.
    pub fn parse(entry: &'t str) -> Option<Self> {
        let entry = entry.trim();
        let Some((tool, rest)) = entry.split_once('(') else {
            return (!entry.is_empty() && !entry.contains(')')).then_some(Self { tool: entry, argument: None });
        };
        let argument = rest.strip_suffix(')')?.trim();
        let tool = tool.trim_end();
        // `Bash()` and `Bash(*)` say no more than `Bash`.
        let argument = (!argument.is_empty() && argument != "*").then_some(argument);
        (!tool.is_empty()).then_some(Self { tool, argument })
    }

    /// Whether the entry speaks of the tool `name`.
    pub fn covers(&self, name: &str) -> bool {
        if self.tool == "*" || self.tool == name {
            return true;
        }
        let Some(server) = self.tool.strip_prefix("mcp__") else { return false };
        let server = server.strip_suffix('*').map_or(server, |open| open.strip_suffix("__").unwrap_or(open));
        let Some(rest) = name.strip_prefix("mcp__") else { return false };
        server.is_empty() || rest.strip_prefix(server).is_some_and(|tool| tool.starts_with("__"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taken_apart() {
        let grant = |entry| Grant::parse(entry).map(|grant| (grant.tool, grant.argument));
        assert_eq!(grant(" Read "), Some(("Read", None)));
        assert_eq!(grant("Bash(git diff *)"), Some(("Bash", Some("git diff *"))));
        assert_eq!(grant("Bash(echo (a))"), Some(("Bash", Some("echo (a)"))));
        assert_eq!(grant("Bash(*)"), Some(("Bash", None)));
        for bad in ["", "(x)", "Bash(x", "Bash(x) y", "Bash)"] {
            assert_eq!(grant(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_server_covers_its_tools_and_no_other() {
        for entry in ["mcp__db", "mcp__db__*", "mcp__*", "*", "mcp__db__query"] {
            assert!(Grant::parse(entry).unwrap().covers("mcp__db__query"), "{entry}");
        }
        for entry in ["mcp__d", "mcp__dbx", "Read", "mcp__db__quer"] {
            assert!(!Grant::parse(entry).unwrap().covers("mcp__db__query"), "{entry}");
        }
    }
}
