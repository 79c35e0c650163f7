//! Encrypted connections, against a server with a certificate authority of its own.

#![allow(clippy::unwrap_used, reason = "a failed test is what a panic is for")]

use std::sync::Arc;

use futures_util::TryStreamExt;
use offshoot_agents::model::openai_chat::OpenAiChat;
use offshoot_agents::model::{Endpoint, Model, ModelError, ModelEvent, Provider, Request, RequestHead, Secret};
use offshoot_agents::transcript::Transcript;
use offshoot_protocol::{Message, Origin};
use offshoot_tests::program;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

const ANSWER: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
    data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello.\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// A server for `localhost`, and its authority's certificate in PEM.
struct Secure {
    port: u16,
    authority: String,
    _serving: JoinSet<()>,
}

async fn serve() -> Secure {
    let mut parameters = CertificateParams::new(Vec::new()).unwrap();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate =
        CertificateParams::new(vec!["localhost".to_owned()]).unwrap().signed_by(&key, &authority).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut serving = JoinSet::new();
    serving.spawn(async move {
        loop {
            let (socket, _) = listener.accept().await.unwrap();
            // A client that doesn't trust the certificate hangs up.
            let Ok(mut stream) = acceptor.accept(socket).await else { continue };
            let mut read = Vec::new();
            while !read.ends_with(b"]}") {
                let mut piece = [0; 4096];
                match stream.read(&mut piece).await {
                    Ok(0) | Err(_) => break,
                    Ok(count) => read.extend_from_slice(&piece[..count]),
                }
            }
            let _ = stream.write_all(ANSWER.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    Secure { port, authority: authority.pem(), _serving: serving }
}

async fn ask(endpoint: Endpoint) -> Result<Vec<ModelEvent>, ModelError> {
    let mut transcript = Transcript::default();
    transcript.push(Message::user("hello", Origin::User));
    let head = RequestHead {
        provider: Provider::Openai,
        model: "m".to_owned(),
        system: String::new(),
        tools: Vec::new(),
        max_tokens: 10,
        thinking_budget: None,
    };
    let (session, agent) = ("s".into(), "a".into());
    let request = Request { head: Arc::new(head), transcript, fork_point: None, session, agent };
    OpenAiChat::new(endpoint)?.stream(request).try_collect().await
}

#[tokio::test]
async fn a_server_is_believed_only_under_its_name_and_with_its_authority() {
    let server = serve().await;
    let endpoint = |host: &str, authority: Option<&str>| Endpoint {
        authorities: authority.map(|pem| pem.as_bytes().into()),
        ..Endpoint::new(format!("https://{host}:{}", server.port), Some(Secret::new("k-1")))
    };
    let events = ask(endpoint("localhost", Some(&server.authority))).await.unwrap();
    assert!(events.contains(&ModelEvent::TextDelta { block: 0, text: "Hello.".to_owned() }), "{events:?}");
    for untrusted in [endpoint("localhost", None), endpoint("127.0.0.1", Some(&server.authority))] {
        let error = ask(untrusted).await.unwrap_err();
        assert!(matches!(&error, ModelError::Connection { reason, .. } if reason.contains("certificate")), "{error:?}");
    }
    let broken = "-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n";
    let error = ask(endpoint("localhost", Some(broken))).await.unwrap_err();
    assert!(matches!(error, ModelError::NotConfigured { .. }), "{error:?}");
}

#[tokio::test]
async fn the_usual_variable_names_further_authorities() {
    let server = serve().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("authority.pem");
    std::fs::write(&file, &server.authority).unwrap();
    let mut command = tokio::process::Command::new(program::offshoot());
    let url = format!("https://localhost:{}", server.port);
    command.args(["exec", "--provider", "openai", "--model", "m", "--base-url", &url, "Hi"]).env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", folder.path()).env("SSL_CERT_FILE", &file);
    let done = command.current_dir(folder.path()).kill_on_drop(true).output().await.unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "Hello.\n", "{}", String::from_utf8_lossy(&done.stderr));
}
