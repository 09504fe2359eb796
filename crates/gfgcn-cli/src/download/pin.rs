//! What content a file has, in the terms of the pin it is held against.

use gfgcn_datasets::remote::Pin;
use sha1::Sha1;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};

/// The content that was found.
pub(super) enum Content {
    Sha256 { hex: String, bytes: u64 },
    GitBlob { hex: String, bytes: u64 },
}

impl Content {
    /// Whether it is the pinned one.
    pub(super) fn is(&self, pin: &Pin) -> bool {
        match (self, pin) {
            (Content::Sha256 { hex, bytes }, Pin::Sha256 { hex: pinned, bytes: length }) => {
                hex == pinned && bytes == length
            }
            (Content::GitBlob { hex, .. }, Pin::GitBlob(pinned)) => hex == pinned,
            _ => false,
        }
    }
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Content::Sha256 { hex, bytes } => write!(f, "SHA-256 {hex} ({bytes} bytes)"),
            Content::GitBlob { hex, bytes } => write!(f, "git blob {hex} ({bytes} bytes)"),
        }
    }
}

/// Hashes a file in the way its pin asks for.
pub(super) fn measure(file: &mut File, pin: &Pin) -> io::Result<Content> {
    file.rewind()?;
    match pin {
        Pin::Sha256 { .. } => {
            let (hex, bytes) = hash(Sha256::new(), file)?;
            Ok(Content::Sha256 { hex, bytes })
        }
        Pin::GitBlob(_) => {
            let length = file.metadata()?.len();
            let header = format!("blob {length}\0");
            let (hex, bytes) = hash(Sha1::new_with_prefix(header), file)?;
            if bytes != length {
                return Err(io::Error::other("the file changed while it was read"));
            }
            Ok(Content::GitBlob { hex, bytes })
        }
    }
}

/// The hash in hexadecimal and the number of bytes read.
fn hash(mut hasher: impl Digest, file: &mut File) -> io::Result<(String, u64)> {
    let mut buffer = vec![0; 64 << 10];
    let mut bytes = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                bytes += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok((hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    // The published SHA-256 of "abc", and what `git hash-object` says about a file with "abc\n".
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const ABC_LINE: &str = "8baef1b4abc478178b004d62031cf7fe6db6f903";

    fn file(content: &str) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(content.as_bytes()).unwrap();
        file
    }

    #[test]
    fn known_hashes_are_reproduced() {
        let pin = Pin::Sha256 { hex: ABC, bytes: 3 };
        assert!(measure(&mut file("abc"), &pin).unwrap().is(&pin));
        assert!(!measure(&mut file("abd"), &pin).unwrap().is(&pin));
        let pin = Pin::GitBlob(ABC_LINE);
        assert!(measure(&mut file("abc\n"), &pin).unwrap().is(&pin));
        assert!(!measure(&mut file("abc"), &pin).unwrap().is(&pin));
    }

    #[test]
    fn the_length_counts_too() {
        let pin = Pin::Sha256 { hex: ABC, bytes: 4 };
        assert!(!measure(&mut file("abc"), &pin).unwrap().is(&pin));
    }
}
