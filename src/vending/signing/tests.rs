use super::*;

fn place() -> Location {
    Location::parse("s3://lake/ns/t").unwrap()
}

fn request(method: &str, uri: &str) -> SignRequest {
    let (region, headers) = ("eu-west-1".to_owned(), BTreeMap::new());
    SignRequest { region, uri: uri.to_owned(), method: method.to_owned(), headers, body: None, provider: None }
}

/// `read`, `write` for what is signed to those who may; else the refusal.
fn verdict(request: &SignRequest, endpoint: Option<&str>) -> String {
    match (judge(request, &place(), Access::Read, endpoint), judge(request, &place(), Access::ReadWrite, endpoint)) {
        (Ok(_), Ok(_)) => "read".to_owned(),
        (Err(Refusal::Forbidden(_)), Ok(_)) => "write".to_owned(),
        (_, Err(refusal)) => refusal.to_string(),
        (read, write) => panic!("{read:?} {write:?}"),
    }
}

const AMAZON: &str = "https://lake.s3.eu-west-1.amazonaws.com";

#[test]
fn what_file_io_does_is_signed() {
    for (method, rest, expected) in [
        ("GET", "/ns/t/data/a.parquet", "read"),
        ("HEAD", "/ns/t/data/a%20b", "read"),
        ("GET", "/ns/t/data/a?versionId=1", "read"),
        ("GET", "/?list-type=2&prefix=ns%2Ft%2F&delimiter=%2F", "read"),
        ("GET", "?list-type=2&prefix=ns/t/data", "read"),
        ("PUT", "/ns/t/data/a?x-id=PutObject", "write"),
        ("PUT", "/ns/t/data/a?partNumber=1&uploadId=u", "write"),
        ("POST", "/ns/t/data/a?uploads", "write"),
        ("POST", "/ns/t/data/a?uploadId=u", "write"),
        ("GET", "/ns/t/data/a?uploadId=u", "write"),
        ("DELETE", "/ns/t/data/a", "write"),
        ("DELETE", "/ns/t/data/a?uploadId=u", "write"),
    ] {
        assert_eq!(verdict(&request(method, &format!("{AMAZON}{rest}")), None), expected, "{method} {rest}");
    }
}

#[test]
fn what_lies_outside_is_not() {
    for (method, rest) in [
        ("GET", "/ns/t2/data/a"),
        ("GET", "/ns/t"),
        ("GET", "/ns/t/"),
        ("GET", "/ns/t/../t2/a"),
        ("GET", "/ns/t/%2e%2e/t2/a"),
        ("GET", "/ns/t/..%2Ft2/a"),
        ("GET", "/ns/t//a"),
        ("GET", "/ns%2Ft2/a"),
        ("GET", "/"),
        ("GET", "/?list-type=2"),
        ("GET", "/?list-type=2&prefix=ns/t"),
        ("GET", "/?list-type=2&prefix=ns/t2/"),
        ("GET", "/?list-type=2&prefix="),
        ("GET", "/?prefix=ns/t/&versions"),
        ("GET", "/?policy"),
        ("PUT", "/?policy"),
        ("DELETE", "/"),
        ("PUT", "/ns/t/a?acl"),
        ("PUT", "/ns/t/a?tagging"),
        ("GET", "/ns/t/a?acl"),
        ("DELETE", "/ns/t/a?versionId=1"),
        ("POST", "/ns/t/a?select&select-type=2"),
        ("POST", "/ns/t/a"),
        ("PATCH", "/ns/t/a"),
    ] {
        let said = verdict(&request(method, &format!("{AMAZON}{rest}")), None);
        assert!(said.starts_with("Request is not signed"), "{method} {rest}: {said}");
    }
}

#[test]
fn what_can_be_read_in_two_ways_is_malformed() {
    for rest in ["/ns/t/a+b", "/ns/t/%ff", "/?prefix=ns/t/&prefix=x", "/ns/t/a#x"] {
        let said = verdict(&request("GET", &format!("{AMAZON}{rest}")), None);
        assert!(said.starts_with("Invalid sign request"), "{rest}: {said}");
    }
    for uri in ["no url", "https://u:p@lake.s3.amazonaws.com/ns/t/a"] {
        assert!(verdict(&request("GET", uri), None).starts_with("Invalid sign request"), "{uri}");
    }
}

#[test]
fn the_url_goes_to_the_warehouses_store() {
    let object = "ns/t/a";
    for host in [
        "https://lake.s3.amazonaws.com/",
        "https://lake.s3.dualstack.eu-west-1.amazonaws.com/",
        "https://s3.eu-west-1.amazonaws.com/lake/",
    ] {
        assert_eq!(verdict(&request("GET", &format!("{host}{object}")), None), "read", "{host}");
    }
    for host in [
        "http://lake.s3.amazonaws.com/",
        "https://lake.s3.amazonaws.com:8443/",
        "https://lake2.s3.amazonaws.com/",
        "https://s3.amazonaws.com/lake2/",
        "https://lake.evil.example/",
        "https://lake.s3.evil.example.amazonaws.com/",
        "https://lake.s3.us-east-1.amazonaws.com/",
        "https://lake.s3.dualstack.us-east-1.amazonaws.com/",
        "https://lake.s3.cn-north-1.amazonaws.com.cn/",
        "https://lake.s3.eu-west-1.amazonaws.com.cn/",
        "https://lake.s3-accelerate.amazonaws.com/",
        "https://s3.amazonaws.com.evil.example/lake/",
        "https://127.0.0.1/lake/",
    ] {
        let said = verdict(&request("GET", &format!("{host}{object}")), None);
        assert!(said.contains("does not go to bucket lake"), "{host}: {said}");
    }
    for (region, host, expected) in [
        ("cn-north-1", "https://lake.s3.cn-north-1.amazonaws.com.cn/", true),
        ("cn-north-1", "https://lake.s3.cn-north-1.amazonaws.com/", false),
        ("cn-north-1", "https://lake.s3.amazonaws.com/", false),
        ("us-east-1", "https://lake.s3.amazonaws.com/", true),
        ("us-east-1", "https://lake.s3.eu-west-1.amazonaws.com/", false),
    ] {
        let asked = SignRequest { region: region.to_owned(), ..request("GET", &format!("{host}{object}")) };
        assert_eq!(verdict(&asked, None) == "read", expected, "{region} {host}");
    }
    let own = Some("http://127.0.0.1:8333");
    assert_eq!(verdict(&request("GET", "http://127.0.0.1:8333/lake/ns/t/a"), own), "read");
    for uri in [
        "http://127.0.0.1:8334/lake/ns/t/a",
        "https://127.0.0.1:8333/lake/ns/t/a",
        "https://lake.s3.amazonaws.com/ns/t/a",
    ] {
        assert!(verdict(&request("GET", uri), own).contains("does not go to"), "{uri}");
    }
    let based = Some("https://store.example/s3/");
    assert_eq!(verdict(&request("PUT", "https://store.example/s3/lake/ns/t/a"), based), "write");
    assert_eq!(verdict(&request("PUT", "https://lake.store.example/s3/ns/t/a"), based), "write");
}

#[test]
fn a_delete_of_many_says_what_it_deletes() {
    let uri = format!("{AMAZON}/?delete");
    let body = |keys: &str| {
        format!(
            "<?xml version=\"1.0\"?><Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">{keys}<Quiet>true</Quiet></Delete>"
        )
    };
    let one = |key: &str| format!("<Object><Key>{key}</Key></Object>");
    let said = |body: Option<String>| verdict(&SignRequest { body, ..request("POST", &uri) }, None);
    assert_eq!(said(Some(body(&(one("ns/t/a") + &one("ns/t/b&amp;c"))))), "write");
    for (keys, why) in [
        (one("ns/t/a") + &one("ns/t2/a"), "ns/t2/a is not in"),
        (one("ns/t/&#46;&#46;/t2/a"), "is not in"),
        ("<Object><Key>ns/t/a</Key><VersionId>1</VersionId></Object>".to_owned(), "expected a list"),
        ("<Object><Key>ns/t/a</Key><Key>ns/t2/a</Key></Object>".to_owned(), "expected a list"),
        (one("ns/t/a<!-- -->"), "comments"),
        (one("<![CDATA[ns/t/a]]>"), "comments"),
        (one(" ns/t/a"), "space"),
        (one("ns/t/a\n"), "space"),
        (one("&#32;ns/t/a"), "is not in"),
        ("<Object><Key a=\"b\">ns/t/a</Key></Object>".to_owned(), "expected each key"),
        (String::new(), "1 to 1000"),
        (one("ns/t/a").repeat(1001), "1 to 1000"),
        ("<Object>".to_owned(), "expected a list"),
    ] {
        let said = said(Some(body(&keys)));
        assert!(said.contains(why), "{said}");
    }
    assert!(said(None).contains("found none"));
    let delete = SignRequest { body: Some(body(&one("ns/t/a"))), ..request("POST", &uri) };
    let signable = judge(&delete, &place(), Access::ReadWrite, None).unwrap();
    assert!(signable.whole && signable.request.body().starts_with(b"<?xml"));
}

#[test]
fn headers_that_do_more_than_write_are_refused() {
    let with = |name: &str, value: &str| SignRequest {
        headers: BTreeMap::from([(name.to_owned(), vec![value.to_owned()])]),
        ..request("PUT", &format!("{AMAZON}/ns/t/a"))
    };
    for name in ["x-amz-copy-source", "X-Amz-Acl", "x-amz-grant-read", "x-amz-object-lock-mode", "x-amz-trailer"] {
        let said = verdict(&with(name, "/lake/ns/t2/a"), None);
        assert!(said.contains(&name.to_ascii_lowercase()), "{said}");
    }
    let signed = |name: &str, value: &str| judge(&with(name, value), &place(), Access::ReadWrite, None).unwrap();
    assert_eq!(signed("X-Amz-Checksum-Crc32", "AA==").request.headers().len(), 1);
    assert_eq!(signed("x-amz-security-token", "t").request.headers().len(), 0);
    assert_eq!(signed("User-Agent", "boto").request.headers().len(), 0);
    assert_eq!(signed("x-amz-content-sha256", &"0f".repeat(32)).hash, Some(vec![15; 32]));
    assert_eq!(signed("X-Amz-Content-SHA256", "UNSIGNED-PAYLOAD").hash, None);
    assert!(verdict(&with("x-amz-content-sha256", "STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), None).contains("chunks"));
    assert!(verdict(&with("x-amz-meta-a", "a\nb"), None).starts_with("Invalid"));
}
