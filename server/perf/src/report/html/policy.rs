//! The page's own content security policy: nothing is loaded and nothing runs.
//!
//! The one style sheet is allowed by its hash, so the page is as strict in a browser as in an editor's
//! panel, whatever that allows.

use sha2::{Digest, Sha256};

/// The policy of a page with one style sheet.
pub(super) fn policy(sheet: &str) -> String {
    let hash = base64(&Sha256::digest(sheet.as_bytes()));
    format!("default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'sha256-{hash}'")
}

/// Base64 with padding (RFC 4648), which policies write hashes in.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            if digit <= three.len() {
                let value = bits >> (18 - 6 * digit) & 63;
                out.push(char::from(DIGITS[value as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        let words = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let encoded: Vec<String> = words.iter().map(|w| base64(w.as_bytes())).collect();
        let expected = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        assert_eq!(encoded, expected);
    }

    #[test]
    fn the_policy_names_the_sheet_that_a_browser_would_hash() {
        // printf '' | openssl dgst -sha256 -binary | base64
        assert!(policy("").ends_with("'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"));
    }
}
