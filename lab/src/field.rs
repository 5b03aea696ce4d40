//! The field: services that were built, started and found right, ready to race.

use anyhow::Result;

use crate::bout::Raced;
use crate::contestant::{Racer, services};
use crate::contract::{check, reset_posts, reset_texts};
use crate::lab::{Lab, say};
use crate::run::{Absent, Scenario};
use crate::servers::Servers;

/// Everyone who may be timed.
pub struct Field {
    pub racers: Vec<Racer>,
}

/// Builds, starts and checks the services of a scenario. Who fails is absent, with the reason.
///
/// # Errors
///
/// If a manifest is wrong or the database fails.
pub fn enter(lab: &Lab, job: &str, servers: Option<&Servers>) -> Result<(Field, Vec<Absent>)> {
    let (ready, mut absent) = services(lab, job)?;
    let environment = servers.map(|servers| servers.environment(lab)).unwrap_or_default();
    let mut racers = Vec::new();
    for service in ready {
        if let Some(servers) = servers {
            reset_posts(servers)?;
            reset_texts(servers)?;
        }
        let checked = service.start(lab, job, &environment).and_then(|racer| {
            check(lab, job, &racer)?;
            Ok(racer)
        });
        match checked {
            Ok(racer) => racers.push(racer),
            Err(error) => {
                let reason = format!("{error:#}");
                say(&format!("{job}: {} is absent: {reason}", service.item.name));
                absent.push(Absent::new(&service.item.name, reason));
            }
        }
    }
    let names: Vec<&str> = racers.iter().map(|racer| racer.service.name.as_str()).collect();
    lab.tell(&format!("{job}: keep the contract: {}", names.join(", ")));
    Ok((Field { racers }, absent))
}

impl Field {
    pub fn names(&self) -> Vec<String> {
        self.racers.iter().map(|racer| racer.service.name.clone()).collect()
    }

    /// Ends every racer and writes the scenario down.
    pub fn close(self, name: &str, title: &str, about: &str, absent: Vec<Absent>, raced: Raced) -> Scenario {
        Scenario {
            name: name.to_owned(),
            title: title.to_owned(),
            about: about.to_owned(),
            contestants: self.racers.into_iter().map(|racer| racer.entrant).collect(),
            absent: [absent, raced.absent].concat(),
            measures: raced.measures,
            reduced: raced.reduced,
            ..Scenario::default()
        }
    }
}
