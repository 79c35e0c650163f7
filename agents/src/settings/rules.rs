//! From the rules as written to rules that decide.

use crate::policy::{RuleKind, RuleSource, Rules};

use super::{Layer, Loaded, SettingRule, SettingWarning};

/// Most warnings about rules; further ones are counted.
const WARNINGS_LIMIT: usize = 50;

impl From<Layer> for RuleSource {
    fn from(layer: Layer) -> Self {
        match layer {
            Layer::User => Self::User,
            Layer::Project => Self::Project,
            Layer::Local => Self::Local,
        }
    }
}

impl Loaded {
    /// The rules of all files, and what is wrong with some of them, by file and line. A malformed one is left out and the
    /// others hold; if it was to deny, everything is asked about. What wasn't trusted when the files were read isn't among them.
    pub fn rules(&self) -> (Rules, Vec<SettingWarning>) {
        let mut rules = Rules::default();
        let warnings = self.add_rules_to(&mut rules);
        (rules, warnings)
    }

    /// Adds them to others, which must have no unread problems; see [`Self::rules`].
    pub fn add_rules_to(&self, rules: &mut Rules) -> Vec<SettingWarning> {
        let mut warnings = Vec::new();
        let mut unlisted = 0;
        for (kind, list) in [(RuleKind::Deny, &self.deny), (RuleKind::Ask, &self.ask), (RuleKind::Allow, &self.allow)] {
            for SettingRule { layer, path, line, text } in list {
                rules.add(kind, (*layer).into(), [text]);
                for problem in std::mem::take(&mut rules.problems) {
                    if warnings.len() == WARNINGS_LIMIT {
                        unlisted += 1;
                        continue;
                    }
                    let message = problem.to_string();
                    warnings.push(SettingWarning { path: path.to_path_buf(), line: Some(*line), message });
                }
            }
        }
        for path in &self.unread {
            rules.doubt(format!("{} can't be read, and may deny it", path.display()));
        }
        for doubt in &self.doubts {
            rules.doubt(doubt.clone());
        }
        if let Some(last) = warnings.last().filter(|_| unlisted > 0) {
            let message = format!("there are {unlisted} more warnings about rules");
            warnings.push(SettingWarning { path: last.path.clone(), line: None, message });
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use offshoot_protocol::{Access, PermissionMode};

    use super::super::{SettingsFolders, load};
    use crate::policy::{Call, RuleKind, RuleSource, TextualPaths, Verdict, decide};

    fn loaded(text: &str) -> super::Loaded {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("settings.json"), text).unwrap();
        load(&SettingsFolders { config_dir: Some(folder.path().to_path_buf()), ..SettingsFolders::default() })
    }

    #[test]
    fn a_malformed_rule_is_told_with_its_line_and_the_others_hold() {
        let text = "{\"permissions\": {\n\"allow\": [\"Bash(ls *)\",\n\"Bash(ls\", \"Read\"],\n\"ask\": [\"Bash(git :* push)\"],\n\"deny\": [\"Edit(x)\"]}}";
        let (rules, warnings) = loaded(text).rules();
        assert_eq!(rules.len(), 4);
        assert!(rules.problems.is_empty());
        let [inert, malformed] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!((inert.line, malformed.line), (Some(4), Some(3)));
        assert!(inert.message.contains("`Bash(git :* push)`"), "{inert}");
        assert!(malformed.message.contains("`Bash(ls`") && malformed.message.contains("left out"), "{malformed}");
    }

    /// What is asked of a command that a rule allows, with these settings.
    fn asked(text: &str, mode: PermissionMode) -> (Verdict, String) {
        let (mut rules, _) = loaded(text).rules();
        rules.add(RuleKind::Allow, RuleSource::CommandLine, ["Bash", "Edit"]);
        let access = Access::Command { command: "ls".to_owned() };
        let call = Call {
            tool: "Bash",
            access: &access,
            input: &serde_json::Value::Null,
            directory: "/p".as_ref(),
            home: "/home/ada".as_ref(),
            project: "/p".as_ref(),
            settings: &[],
            paths: &TextualPaths,
        };
        let decision = decide(&call, &rules, mode);
        (decision.verdict, decision.reason)
    }

    #[test]
    fn what_may_have_been_meant_to_deny_makes_everything_be_asked() {
        for text in [
            r#"{"permissions": {"deny": ["Bash(ls"]}}"#,
            r#"{"permissions": {"deny": ["Bash(rm *)", 7]}}"#,
            r#"{"permissions": {"deny": "Bash(rm *)"}}"#,
            r#"{"permissions": {"denny": ["Bash(rm *)"]}}"#,
            r#"{"permissions": ["Bash(rm *)"]}"#,
            r#"{"permissions": {"deny": ["Bash(rm *)"]"#,
        ] {
            for (mode, verdict) in [
                (PermissionMode::Default, Verdict::Ask),
                (PermissionMode::Bypass, Verdict::Ask),
                (PermissionMode::DontAsk, Verdict::Deny),
                (PermissionMode::Plan, Verdict::Ask),
            ] {
                let (found, reason) = asked(text, mode);
                assert_eq!(found, verdict, "{text}: {reason}");
                assert!(reason.contains("can't be") || reason.contains("settings.json:1"), "{text}: {reason}");
            }
        }
        // Malformed rules that allow or ask open nothing.
        let others = r#"{"permissions": {"allow": ["Bash(ls"], "ask": ["Read("], "deny": ["Bash(rm *)"]}}"#;
        assert_eq!(asked(others, PermissionMode::Default).0, Verdict::Allow);
    }

    #[test]
    fn warnings_are_bounded() {
        let text = format!("{{\"permissions\": {{\"deny\": [{}]}}}}", vec!["\"Bash(\""; 1000].join(","));
        let (rules, warnings) = loaded(&text).rules();
        assert!(rules.is_empty());
        assert_eq!((warnings.len(), warnings[50].message.as_str()), (51, "there are 950 more warnings about rules"));
    }
}
