//! Reason: why a rule decides about a table for somebody, or does not.

use crate::policy::principal::Principal;
use crate::policy::rule::Rule;
use crate::policy::rules::Rules;
use crate::schema::Table;

/// Why a rule decides about a table, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// It is the first that is for who asks and names the table.
    Decides,
    /// It is not for who asks.
    OtherPeople,
    /// It does not name the table.
    OtherTables,
    /// The rule with this number, counted from one, has decided already.
    TooLate(usize),
}

impl Rules {
    /// Every rule in the order of the configuration, with what it means for `principal` and `table`.
    pub fn reasons<'a>(&'a self, principal: &Principal, table: &Table) -> Vec<(&'a Rule, Reason)> {
        let mut decided = None;
        let rules = self.all().enumerate();
        rules
            .map(|(index, rule)| {
                let reason = match (rule.who.is(principal), rule.tables.has(&table.alias), decided) {
                    (false, ..) => Reason::OtherPeople,
                    (_, false, _) => Reason::OtherTables,
                    (true, true, Some(number)) => Reason::TooLate(number),
                    (true, true, None) => {
                        decided = Some(index + 1);
                        Reason::Decides
                    }
                };
                (rule, reason)
            })
            .collect()
    }
}
