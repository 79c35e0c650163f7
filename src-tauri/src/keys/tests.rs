use super::*;

/// A machine without a keychain.
struct Nothing;

impl KeyStore for Nothing {
    fn read(&self, _: Account) -> Result<Option<String>, KeyError> {
        Err(KeyError("no keychain".to_owned()))
    }

    fn write(&self, _: Account, _: &str) -> Result<(), KeyError> {
        Err(KeyError("no keychain".to_owned()))
    }

    fn delete(&self, _: Account) -> Result<bool, KeyError> {
        Err(KeyError("no keychain".to_owned()))
    }
}

fn keys(folder: &Path) -> Keys {
    Keys { keychain: Arc::new(Nothing), ..Keys::new(folder) }
}

#[tokio::test]
async fn without_a_keychain_keys_go_into_the_file_only_when_that_is_chosen() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(&folder.path().join("new"));
    let refused = keys.set(Account::Openai, "sk-1".to_owned(), Place::Keychain).await;
    assert_eq!(refused, Err(KeyError("no keychain".to_owned())));
    assert!(!keys.path().exists());
    keys.set(Account::Openai, " sk-1\n".to_owned(), Place::File).await.unwrap();
    let (key, _) = keys.stored(Account::Openai).await;
    let key = key.unwrap();
    assert_eq!((key.secret.clone(), key.place), (Secret::new("sk-1"), Place::File));
    assert!(!format!("{key:?}").contains("sk-1"));
    let (other, problem) = keys.stored(Account::Anthropic).await;
    assert!(other.is_none() && problem.is_some());
    assert_eq!(keys.delete(Account::Openai).await, Ok(true));
    assert!(!keys.path().exists(), "the last key takes the file along");
}

#[tokio::test]
async fn what_can_not_be_a_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path());
    for text in ["", " \n", "two words", "a\nb", "x\u{0}y"] {
        let error = keys.set(Account::Openai, text.to_owned(), Place::File).await.unwrap_err();
        assert!(error.0.contains("nothing was changed"), "{error}");
    }
    assert!(!keys.path().exists());
}

#[cfg(unix)]
#[tokio::test]
async fn the_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path());
    keys.set(Account::Anthropic, "sk-secret".to_owned(), Place::File).await.unwrap();
    let mode = || std::fs::metadata(keys.path()).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(keys.path(), std::fs::Permissions::from_mode(0o644)).unwrap();
    let (key, problem) = keys.stored(Account::Anthropic).await;
    assert!(key.is_none());
    assert!(problem.unwrap().0.contains("chmod 600"));
}

#[cfg(unix)]
#[tokio::test]
async fn a_broken_file_is_left_alone_and_not_quoted() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let keys = keys(folder.path());
    std::fs::write(keys.path(), r#"{"anthropic": sk-secret}"#).unwrap();
    std::fs::set_permissions(keys.path(), std::fs::Permissions::from_mode(0o600)).unwrap();
    let error = keys.set(Account::Openai, "sk-1".to_owned(), Place::File).await.unwrap_err();
    assert!(!error.0.contains("sk-secret"), "{error}");
    assert!(std::fs::read_to_string(keys.path()).unwrap().contains("sk-secret"));
}
