//! From claims to a principal.

use super::Principal;
use super::error::Error;
use super::jwt::Claims;
use serde_json::Value;

/// Longest name of a user or a role, in bytes: longer ones could not be written down in grants.
const MAX_NAME: usize = 512;

/// Most roles that a token may bring.
const MAX_ROLES: usize = 1000;

/// Which claims name a caller and list its roles.
#[derive(Debug, Clone)]
pub(super) struct Mapping {
    /// What names of users begin with: subjects of two issuers are two callers, whatever they are called.
    pub(super) issuer: String,
    pub(super) user_claim: String,
    pub(super) roles_claim: String,
}

impl Mapping {
    pub(super) fn principal(&self, claims: &Claims) -> Result<Principal, Error> {
        let user = match find(claims, &self.user_claim) {
            Some(Value::String(user)) => user.clone(),
            Some(Value::Number(user)) => user.to_string(),
            _ => String::new(),
        };
        if !is_name(&user) {
            return Err(Error::Refused(format!("its {} names nobody", self.user_claim)));
        }
        Ok(Principal { name: format!("{}#{user}", self.issuer), roles: self.roles(claims)?, unrestricted: false })
    }

    /// A list, or (as OAuth writes scopes) a text with spaces between the names.
    fn roles(&self, claims: &Claims) -> Result<Vec<String>, Error> {
        let wrong = || Error::Refused(format!("its {} is no list of at most {MAX_ROLES} names", self.roles_claim));
        let roles: Vec<String> = match find(claims, &self.roles_claim) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::String(text)) => text.split_whitespace().map(str::to_owned).collect(),
            Some(Value::Array(items)) => {
                let names = items.iter().map(|item| item.as_str().map(str::to_owned));
                names.collect::<Option<_>>().ok_or_else(wrong)?
            }
            Some(_) => return Err(wrong()),
        };
        if roles.len() > MAX_ROLES || !roles.iter().all(|role| is_name(role)) {
            return Err(wrong());
        }
        Ok(roles)
    }
}

/// Names stand in logs and in SQL.
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME && !text.contains(char::is_control)
}

/// The claim of this name; else the one that the dots in the name lead to.
fn find<'a>(claims: &'a Claims, path: &str) -> Option<&'a Value> {
    if let Some(value) = claims.get(path) {
        return Some(value);
    }
    let (first, rest) = path.split_once('.')?;
    find(claims.get(first)?.as_object()?, rest)
}

/// Whether `aud` names one of these. An empty list takes everything.
pub(super) fn is_for(claims: &Claims, audience: &[String]) -> bool {
    let ours = |value: &Value| value.as_str().is_some_and(|text| audience.iter().any(|known| known == text));
    audience.is_empty()
        || match claims.get("aud") {
            Some(Value::Array(items)) => items.iter().any(ours),
            Some(value) => ours(value),
            None => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn principal(claims: &Value, user: &str, roles: &str) -> Result<Principal, Error> {
        let mapping = Mapping { issuer: "https://i".into(), user_claim: user.into(), roles_claim: roles.into() };
        mapping.principal(claims.as_object().unwrap())
    }

    #[test]
    fn users_and_roles_are_where_the_settings_say() {
        let claims =
            json!({"sub": "u1", "id": 7, "realm_access": {"roles": ["a", "b"]}, "scp": "r w", "https://x.y/r": ["c"]});
        let found = |user, roles| principal(&claims, user, roles).unwrap();
        assert_eq!(found("sub", "realm_access.roles").name, "https://i#u1");
        assert_eq!(found("sub", "realm_access.roles").roles, ["a", "b"]);
        assert_eq!(found("id", "scp").name, "https://i#7");
        assert_eq!(found("id", "scp").roles, ["r", "w"]);
        assert_eq!(found("sub", "https://x.y/r").roles, ["c"]);
        assert!(found("sub", "none.at.all").roles.is_empty() && !found("sub", "roles").unrestricted);
    }

    #[test]
    fn what_names_nobody_is_refused() {
        for claims in [
            json!({}),
            json!({"sub": ""}),
            json!({"sub": null}),
            json!({"sub": ["a"]}),
            json!({"sub": {"a": 1}}),
            json!({"sub": "a\nb"}),
            json!({"sub": "a\u{0}"}),
            json!({"sub": "x".repeat(513)}),
            json!({"sub": "a", "roles": 1}),
            json!({"sub": "a", "roles": [1]}),
            json!({"sub": "a", "roles": ["a\tb"]}),
            json!({"sub": "a", "roles": vec!["r"; 1001]}),
        ] {
            assert!(principal(&claims, "sub", "roles").is_err(), "{claims}");
        }
    }

    #[test]
    fn an_audience_is_one_of_the_known() {
        let is = |claims: Value, audience: &[&str]| {
            let audience: Vec<String> = audience.iter().map(ToString::to_string).collect();
            is_for(claims.as_object().unwrap(), &audience)
        };
        assert!(is(json!({"aud": "a"}), &["b", "a"]) && is(json!({"aud": ["x", "a"]}), &["a"]) && is(json!({}), &[]));
        for claims in [json!({}), json!({"aud": "ab"}), json!({"aud": []}), json!({"aud": 1}), json!({"aud": [["a"]]})]
        {
            assert!(!is(claims.clone(), &["a"]), "{claims}");
        }
    }
}
