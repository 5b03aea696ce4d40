//! firewall: only listed addresses are let in, and whose address that is.

use std::net::{IpAddr, SocketAddr};

use http::HeaderMap;
use ipnet::IpNet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use treeql::error::{Code, Error};

use crate::http::list;

/// Settings of the firewall.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Options {
    /// Whether a proxy that we trust stands before the server. Then the last address in `X-Forwarded-For` counts, which
    /// is the one that the proxy saw.
    pub reverse_proxy: bool,
    /// Addresses and ranges that are let in, separated by commas: `10.0.0.0/8, 192.0.2.7, 2001:db8::/32`.
    pub allowed_ip_addresses: String,
}

/// The list, ready to use.
pub struct Firewall {
    allowed: Vec<IpNet>,
}

impl Firewall {
    /// Checks the settings. The error is a sentence.
    pub fn compile(options: &Options) -> Result<Firewall, String> {
        let allowed = list(&options.allowed_ip_addresses).map(range).collect::<Result<Vec<_>, _>>()?;
        if allowed.is_empty() {
            return Err("firewall.allowedIpAddresses is empty: nobody would be let in".to_owned());
        }
        Ok(Firewall { allowed })
    }

    /// Refuses an address that is not in the list, or not known: 1016.
    pub fn check(&self, client: Option<IpAddr>) -> Result<(), Error> {
        if client.is_some_and(|client| self.allowed.iter().any(|range| range.contains(&client))) {
            return Ok(());
        }
        Err(Error::new(Code::Blocked, ""))
    }
}

/// The address of the client: that of the connection, or what a proxy that we trust says about it. Nothing, if that
/// cannot be read.
pub fn client_ip(headers: &HeaderMap, peer: IpAddr, reverse_proxy: bool) -> Option<IpAddr> {
    // speed: first, as few have a proxy, and a header by its name costs 500 instructions (docs/performance.md).
    if !reverse_proxy {
        return Some(peer.to_canonical());
    }
    let forwarded = headers.get_all("x-forwarded-for").iter().next_back();
    let Some(forwarded) = forwarded else { return Some(peer.to_canonical()) };
    // What stands before the last comma was written by others, who may lie.
    let last = forwarded.to_str().ok()?.rsplit(',').next()?.trim();
    let address = last.parse::<IpAddr>().or_else(|_no_ip| last.parse().map(|socket: SocketAddr| socket.ip()));
    address.ok().map(|address| address.to_canonical())
}

fn range(text: &str) -> Result<IpNet, String> {
    let range = text.parse::<IpNet>().or_else(|_no_range| text.parse::<IpAddr>().map(IpNet::from));
    range.map_err(|_neither| {
        format!("firewall.allowedIpAddresses has '{text}', which is neither an address nor a range such as 10.0.0.0/8")
    })
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use http::{HeaderMap, HeaderValue};

    use crate::middleware::firewall::{Firewall, Options, client_ip};

    fn firewall(allowed: &str) -> Result<Firewall, String> {
        Firewall::compile(&Options { allowed_ip_addresses: allowed.into(), ..Options::default() })
    }

    #[test]
    fn listed_addresses_are_let_in() {
        let table = [
            ("127.0.0.1", "127.0.0.1", true),
            ("127.0.0.1", "127.0.0.2", false),
            ("10.0.0.0/8", "10.255.255.255", true),
            ("10.0.0.0/8", "11.0.0.0", false),
            ("10.1.2.3/8", "10.9.9.9", true),
            ("192.168.1.128/25", "192.168.1.127", false),
            ("192.168.1.128/25", "192.168.1.128", true),
            ("1.2.3.4/32", "1.2.3.4", true),
            ("1.2.3.4/32", "1.2.3.5", false),
            ("0.0.0.0/0", "255.255.255.255", true),
            ("0.0.0.0/0", "::1", false),
            ("::/0", "127.0.0.1", false),
            ("::1", "::1", true),
            ("2001:db8::/32", "2001:db8:ffff::1", true),
            ("2001:db8::/32", "2001:db9::1", false),
            ("10.0.0.0/8, ::1 ,192.0.2.1,", "192.0.2.1", true),
        ];
        for (allowed, client, expected) in table {
            let result = firewall(allowed).unwrap().check(client.parse().ok());
            assert_eq!(result.is_ok(), expected, "{client} in {allowed}");
        }
        assert!(firewall("0.0.0.0/0,::/0").unwrap().check(None).is_err());
    }

    #[test]
    fn what_is_no_range_is_a_sentence() {
        for text in
            ["", " , ", "localhost", "1.2.3", "1.2.3.4/33", "1.2.3.4/", "::1/129", "1.2.3.4-5", "010.0.0.1"]
        {
            assert!(firewall(text).err().unwrap().contains("firewall.allowedIpAddresses"), "{text}");
        }
    }

    #[test]
    fn only_a_proxy_may_say_who_asks() {
        let peer: IpAddr = "10.0.0.1".parse().unwrap();
        let client = |lines: &[&'static str], reverse_proxy| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append("x-forwarded-for", HeaderValue::from_str(line).unwrap());
            }
            client_ip(&headers, peer, reverse_proxy).map(|address| address.to_string())
        };
        let table: [(&[&str], Option<&str>); 10] = [
            (&[], Some("10.0.0.1")),
            (&["1.2.3.4"], Some("1.2.3.4")),
            (&["6.6.6.6, 1.2.3.4"], Some("1.2.3.4")),
            (&["6.6.6.6", "1.2.3.4"], Some("1.2.3.4")),
            (&["1.2.3.4:5678"], Some("1.2.3.4")),
            (&["[2001:db8::1]:80"], Some("2001:db8::1")),
            (&["::ffff:1.2.3.4"], Some("1.2.3.4")),
            (&["unknown"], None),
            (&["1.2.3.4,"], None),
            (&["ä"], None),
        ];
        for (lines, expected) in table {
            assert_eq!(client(lines, true).as_deref(), expected, "{lines:?}");
            assert_eq!(client(lines, false).as_deref(), Some("10.0.0.1"), "{lines:?}");
        }
        let mapped: IpAddr = "::ffff:127.0.0.1".parse().unwrap();
        assert_eq!(client_ip(&HeaderMap::new(), mapped, false), "127.0.0.1".parse().ok());
    }
}
