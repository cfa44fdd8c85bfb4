//! The session policy of temporary S3 keys: what they may touch of what their role may.
//!
//! The role's own policy and this one both have to allow a request. Names stand in patterns here, where `*`, `?` and
//! `${..}` mean something; they are escaped the way IAM escapes them.

use super::Error;
use crate::auth::Access;
use crate::storage::Location;
use serde_json::{Value, json};

/// STS takes no longer policy.
const MOST_BYTES: usize = 2048;

const READ: &[&str] = &["s3:GetObject", "s3:GetObjectVersion"];
const WRITE: &[&str] = &["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"];

/// The policy for a table's place. `partition` is the first part of resource names: `aws`, `aws-cn`. With a KMS key the
/// session may use that key, for reading or for both.
pub(super) fn policy(
    place: &Location,
    access: Access,
    partition: &str,
    kms_key: Option<&str>,
) -> Result<String, Error> {
    let (bucket, prefix) = (place.bucket(), escape(place.key()));
    let bucket_arn = format!("arn:{partition}:s3:::{bucket}");
    let writes = access == Access::ReadWrite;
    let actions = |also: &[&'static str]| [READ, if writes { also } else { &[] }].concat();
    let mut statements: Vec<Value> = vec![
        json!({"Effect": "Allow", "Action": actions(WRITE), "Resource": format!("{bucket_arn}/{prefix}/*")}),
        json!({
            "Effect": "Allow", "Action": "s3:ListBucket", "Resource": bucket_arn,
            "Condition": {"StringLike": {"s3:prefix": format!("{prefix}/*")}},
        }),
        json!({"Effect": "Allow", "Action": "s3:GetBucketLocation", "Resource": bucket_arn}),
    ];
    if let Some(key) = kms_key {
        let mut actions = vec!["kms:Decrypt"];
        if writes {
            actions.push("kms:GenerateDataKey");
        }
        statements.push(json!({"Effect": "Allow", "Action": actions, "Resource": escape(key)}));
    }
    let policy = json!({"Version": "2012-10-17", "Statement": statements}).to_string();
    if policy.len() > MOST_BYTES {
        return Err(Error::TooLong { place: place.to_string(), what: "session policy", limit: MOST_BYTES });
    }
    Ok(policy)
}

/// A text in a pattern of IAM, meaning itself.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '*' | '?' | '$' => {
                escaped.push_str("${");
                escaped.push(c);
                escaped.push('}');
            }
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(text: &str) -> Location {
        Location::parse(text).unwrap()
    }

    #[test]
    fn a_reader_writes_nothing() {
        let policy = policy(&place("s3://b/w/t"), Access::Read, "aws", None).unwrap();
        assert_eq!(
            policy,
            r#"{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject","s3:GetObjectVersion"],"Resource":"arn:aws:s3:::b/w/t/*"},{"Effect":"Allow","Action":"s3:ListBucket","Resource":"arn:aws:s3:::b","Condition":{"StringLike":{"s3:prefix":"w/t/*"}}},{"Effect":"Allow","Action":"s3:GetBucketLocation","Resource":"arn:aws:s3:::b"}]}"#
        );
    }

    #[test]
    fn a_writer_uploads_in_parts_and_uses_the_key() {
        let key = "arn:aws-cn:kms:cn-north-1:1:key/k";
        let policy = policy(&place("s3://b/t"), Access::ReadWrite, "aws-cn", Some(key)).unwrap();
        let policy: Value = serde_json::from_str(&policy).unwrap();
        let statements = policy["Statement"].as_array().unwrap();
        for action in ["s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload", "s3:ListMultipartUploadParts"] {
            assert!(statements[0]["Action"].as_array().unwrap().contains(&json!(action)), "{action}");
        }
        assert_eq!(statements[0]["Resource"], "arn:aws-cn:s3:::b/t/*");
        assert_eq!(statements[3]["Action"], json!(["kms:Decrypt", "kms:GenerateDataKey"]));
        assert_eq!(statements[3]["Resource"], key);
    }

    #[test]
    fn a_name_is_no_pattern() {
        let policy = policy(&place("s3://b/*/${aws:username}/?\"]}"), Access::Read, "aws", None).unwrap();
        let policy: Value = serde_json::from_str(&policy).unwrap();
        assert_eq!(policy["Statement"][0]["Resource"], "arn:aws:s3:::b/${*}/${$}{aws:username}/${?}\"]}/*");
        assert_eq!(
            policy["Statement"][1]["Condition"]["StringLike"]["s3:prefix"],
            "${*}/${$}{aws:username}/${?}\"]}/*"
        );
    }

    #[test]
    fn what_is_longer_than_sts_takes_is_refused_here() {
        let long = format!("s3://b/{}", "k".repeat(1000));
        let error = policy(&place(&long), Access::ReadWrite, "aws", None).unwrap_err();
        assert!(matches!(error, Error::TooLong { limit: 2048, .. }), "{error}");
        assert!(policy(&place(&format!("s3://b/{}", "k".repeat(700))), Access::ReadWrite, "aws", None).is_ok());
    }
}
