use offshoot_agents::model::Secret;

use super::*;
use crate::arguments::FolderArguments;

/// What there is with these variables and settings.
fn surroundings(variables: &[(&str, &str)], settings: &str) -> (tempfile::TempDir, Surroundings) {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("settings.json"), settings).unwrap();
    let arguments = FolderArguments { data_dir: None, config_dir: Some(place.path().to_path_buf()) };
    let variable = |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).into());
    let found = Surroundings::from_variables(&arguments, &variable, Some("/home/ada".into())).unwrap();
    (place, found)
}

const ANTHROPIC_KEY: (&str, &str) = ("ANTHROPIC_API_KEY", "k-a");
const OPENAI_KEY: (&str, &str) = ("OPENAI_API_KEY", "k-o");
const OPENAI_URL: (&str, &str) = ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");

#[test]
fn whoever_there_is_a_key_or_an_address_for_answers() {
    for (variables, settings, provider, model, address) in [
        (&[][..], "{}", Provider::Demo, "demo", ""),
        (&[ANTHROPIC_KEY, OPENAI_KEY], "{}", Provider::Anthropic, ANTHROPIC_MODEL, ANTHROPIC),
        (&[OPENAI_KEY], "{}", Provider::OpenaiResponses, OPENAI_MODEL, OPENAI),
        (&[OPENAI_URL], "{}", Provider::Openai, ANY_MODEL, OPENAI_URL.1),
        (&[ANTHROPIC_KEY], r#"{"provider":"openai","model":"m"}"#, Provider::Openai, "m", OPENAI),
        (
            &[OPENAI_KEY],
            r#"{"provider":"openai","baseUrl":"http://localhost:2/v1"}"#,
            Provider::Openai,
            ANY_MODEL,
            "http://localhost:2/v1",
        ),
        (&[], r#"{"provider":"demo","model":"m"}"#, Provider::Demo, "demo", ""),
        (&[], r#"{"baseUrl":"http://localhost:3"}"#, Provider::Anthropic, ANTHROPIC_MODEL, "http://localhost:3"),
    ] {
        let (_place, found) = surroundings(variables, settings);
        let choice = Choice::default();
        let answers = answers(&found, &choice);
        assert_eq!((answers.provider, answers.model.as_str()), (provider, model), "{variables:?} {settings}");
        if provider != Provider::Demo {
            assert_eq!(super::address(&found, &choice, provider), address);
        }
    }
}

#[test]
fn an_address_is_the_one_providers_that_it_was_given_for() {
    let settings = r#"{"provider":"openai","baseUrl":"http://localhost:2/v1","model":"m"}"#;
    let (_place, found) = surroundings(&[ANTHROPIC_KEY, OPENAI_KEY], settings);
    let choice = Choice { provider: Some(Provider::Anthropic), ..Choice::default() };
    assert_eq!(answers(&found, &choice).model, ANTHROPIC_MODEL);
    let endpoint = endpoint(&found, &choice, Provider::Anthropic);
    assert_eq!((endpoint.base_url.as_str(), endpoint.key), (ANTHROPIC, Some(Secret::new("k-a"))));
    let choice = Choice { base_url: Some("http://localhost:4".to_owned()), ..Choice::default() };
    assert_eq!(address(&found, &choice, Provider::Openai), "http://localhost:4");
    assert_eq!(address(&found, &choice, Provider::Anthropic), ANTHROPIC);
}

#[test]
fn only_the_providers_own_servers_want_a_key() {
    let (_place, found) = surroundings(&[], "{}");
    for (provider, word) in [
        (Provider::Anthropic, "ANTHROPIC_API_KEY"),
        (Provider::Openai, "OPENAI_API_KEY"),
        (Provider::OpenaiResponses, "OPENAI_API_KEY"),
    ] {
        let choice = Choice { provider: Some(provider), ..Choice::default() };
        assert!(check(&found, &choice).unwrap_err().0.contains(word));
        let choice = Choice { base_url: Some("http://127.0.0.1:1".to_owned()), ..choice };
        assert!(check(&found, &choice).is_ok());
        let choice = Choice { base_url: Some("nowhere".to_owned()), ..choice };
        assert!(check(&found, &choice).unwrap_err().0.contains("nowhere"));
    }
}
