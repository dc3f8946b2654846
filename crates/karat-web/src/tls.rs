//! Certificates for HTTPS.

use karat::failure::Failure;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;

/// The TLS configuration with this certificate. Both files are PEM and are read once.
pub(crate) fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, Failure> {
    let unread = |flag: &str, path: &Path, error: &dyn std::fmt::Display| {
        Failure::bad_input(format!("--{flag} {}: {error}; expected a PEM file", path.display()))
    };
    let chain = CertificateDer::pem_file_iter(certificate).and_then(Iterator::collect::<Result<Vec<_>, pem::Error>>);
    let chain = chain.map_err(|error| unread("tls-cert", certificate, &error))?;
    if chain.is_empty() {
        return Err(unread("tls-cert", certificate, &"it contains no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unread("tls-key", key, &error))?;
    let unfit = |error: rustls::Error| {
        let files = format!("--tls-cert {} and --tls-key {}", certificate.display(), key.display());
        Failure::bad_input(format!("{files} cannot be used together: {error}"))
    };
    let builder = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()));
    let builder = builder.with_safe_default_protocol_versions().map_err(unfit)?;
    let mut config = builder.with_no_client_auth().with_single_cert(chain, private).map_err(unfit)?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
