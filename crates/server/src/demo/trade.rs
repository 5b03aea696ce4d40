//! Topics of people who work with computers, and with each other.

use crate::demo::words::{Task, Topic};

/// Servers, databases, programming, web and teamwork.
pub const TOPICS: &[Topic] = &[
    Topic {
        category: "Servers",
        name: "backups",
        tags: &["backup", "recovery"],
        tasks: &[
            Task(
                &["move", "moved", "moving"],
                "@ backups to {a cheaper disk|another building|an old laptop|the cloud}",
            ),
            Task(&["test", "tested", "testing"], "@ {weekly|monthly|oldest|encrypted} backups"),
            Task(
                &["restore", "restored", "restoring"],
                "@ {mail|customer|photo|payroll} archive from {tape|a cold start|memory}",
            ),
            Task(
                &["encrypt", "encrypted", "encrypting"],
                "@ backups {at home|before they leave the house|with one key}",
            ),
            Task(
                &["replace", "replaced", "replacing"],
                "@ {tape drive|backup script|storage box} {for good|after ten years}",
            ),
        ],
        facts: &[
            "A backup that was never restored is only a {hope|rumour|habit}.",
            "Restoring took {three hours|a whole night|nine minutes}, which is the only number that matters.",
            "The oldest copy was from {2016|a server we no longer own|before the last move}.",
            "Two copies in the same room are one copy.",
            "We found {four|seven|eleven} scripts that did the same thing, each to a different disk.",
            "Nobody knew where the key was {kept|written down}.",
        ],
    },
    Topic {
        category: "Servers",
        name: "deployments",
        tags: &["deployment", "automation"],
        tasks: &[
            Task(
                &["automate", "automated", "automating"],
                "@ {deployments|releases|rollbacks} with {one script|a Makefile|plain shell}",
            ),
            Task(&["shrink", "shrank", "shrinking"], "@ container images to {ten|twenty|forty} megabytes"),
            Task(
                &["roll back", "rolled back", "rolling back"],
                "@ {biggest|last|Friday} release in {a minute|front of a customer|the dark}",
            ),
            Task(
                &["speed up", "sped up", "speeding up"],
                "@ {build|release} pipeline {by half|by a factor of ten}",
            ),
            Task(
                &["ship", "shipped", "shipping"],
                "@ {first|hundredth} release from {a train|a laptop|the kitchen table}",
            ),
        ],
        facts: &[
            "Small releases fail in small ways.",
            "The script has {forty|sixty|ninety} lines and no options.",
            "Going back must be as easy as going forward.",
            "{Half|Most|A third} of the time was spent waiting for a download.",
            "We release on {Tuesdays|Mondays|any day} now, before lunch.",
            "A checklist caught {two|three|five} mistakes in the first month.",
        ],
    },
    Topic {
        category: "Servers",
        name: "monitoring",
        tags: &["monitoring", "logging"],
        tasks: &[
            Task(&["silence", "silenced", "silencing"], "@ {noisiest|oldest|most useless} {alerts|alarms}"),
            Task(&["read", "read", "reading"], "@ logs {every morning|with three tools|from the bottom up}"),
            Task(
                &["draw", "drew", "drawing"],
                "@ {only|first|best} dashboard {on one page|by hand|with four graphs}",
            ),
            Task(
                &["watch", "watched", "watching"],
                "@ {disks|queues|certificates} before they {fill up|overflow|expire}",
            ),
            Task(
                &["halve", "halved", "halving"],
                "@ {alerts|log files|night calls} {in a month|with one rule}",
            ),
        ],
        facts: &[
            "An alert that nobody acts on is {noise|decoration}.",
            "We kept {five|eight|twelve} alerts out of {sixty|ninety|two hundred}.",
            "The disk was full of logs about a full disk.",
            "Averages hide exactly the {requests|minutes|customers} you want to see.",
            "The graph everybody looked at had been {empty|frozen|wrong} since {June|the last upgrade}.",
            "If it can wait until the morning, it should not ring at night.",
        ],
    },
    Topic {
        category: "Databases",
        name: "slow queries",
        tags: &["sql", "indexes", "performance"],
        tasks: &[
            Task(
                &["find", "found", "finding"],
                "@ slowest {query|report|join} {with a stopwatch|in the log}",
            ),
            Task(
                &["index", "indexed", "indexing"],
                "@ {largest|oldest|busiest} table {without downtime|during lunch|the right way}",
            ),
            Task(
                &["rewrite", "rewrote", "rewriting"],
                "@ {monthly|sales|search} report {as one query|without subqueries|from scratch}",
            ),
            Task(
                &["explain", "explained", "explaining"],
                "@ query plans to {a beginner|a sceptic|the whole office}",
            ),
            Task(
                &["cache", "cached", "caching"],
                "@ {counts|totals|search results} {for a minute|in a table|at the edge}",
            ),
        ],
        facts: &[
            "The plan showed a full scan of {two|six|forty} million rows.",
            "One index made it {twenty|ninety|three hundred} times faster, and another one made it slower.",
            "Counting rows is {rarely|almost never} what the page needs.",
            "The query was fine; the {loop|template|report} around it was not.",
            "Measure on a copy of the real data, never on {ten|a hundred} rows.",
            "Every index is paid for by each {insert|update}.",
        ],
    },
    Topic {
        category: "Databases",
        name: "migrations",
        tags: &["schema", "migration"],
        tasks: &[
            Task(
                &["upgrade", "upgraded", "upgrading"],
                "@ database {over two major versions|without a maintenance window|on a Sunday}",
            ),
            Task(
                &["rename", "renamed", "renaming"],
                "@ {busiest|most confusing|oldest} column {in four steps|without downtime}",
            ),
            Task(&["split", "split", "splitting"], "@ {customer|order|address} table {in two|by year}"),
            Task(
                &["merge", "merged", "merging"],
                "@ two {customer|product|user} databases {into one|by hand|overnight}",
            ),
            Task(&["delete", "deleted", "deleting"], "@ {unused|duplicate|ancient} {tables|columns|rows}"),
        ],
        facts: &[
            "First add, then copy, then switch, and only then remove.",
            "A column named {flag2|misc|temp} had been in use for {six|nine|eleven} years.",
            "The old application kept writing for another {week|month}.",
            "Foreign keys found {forty|three hundred|two thousand} rows without a parent.",
            "Every step could be undone, and we needed that {once|twice}.",
            "Dates stored as text came in {four|five|seven} formats.",
        ],
    },
    Topic {
        category: "Programming",
        name: "testing",
        tags: &["testing", "bugs", "automation"],
        tasks: &[
            Task(&["delete", "deleted", "deleting"], "@ {slowest|flakiest|oldest} tests"),
            Task(
                &["write", "wrote", "writing"],
                "@ {first|missing|smallest} tests for {old code|a parser|a payment form}",
            ),
            Task(
                &["run", "ran", "running"],
                "@ {whole test suite|browser tests|slow tests} in {ten seconds|parallel|a container}",
            ),
            Task(
                &["reproduce", "reproduced", "reproducing"],
                "@ {strangest|rarest|oldest} bug {in five lines|on purpose}",
            ),
            Task(
                &["replace", "replaced", "replacing"],
                "@ mocks with {a real database|plain files|recorded answers}",
            ),
        ],
        facts: &[
            "A test that fails now and then is worse than no test.",
            "The bug was in the test {all along|and in the code}.",
            "Names of tests are sentences that somebody reads at {midnight|the worst moment}.",
            "We went from {forty|twenty|twelve} minutes to {forty|fifty|ninety} seconds.",
            "Good test data is {small|boring|real} and lives in a file.",
            "Coverage went down and trust went up.",
        ],
    },
    Topic {
        category: "Programming",
        name: "refactoring",
        tags: &["refactoring", "code-review"],
        tasks: &[
            Task(
                &["clean up", "cleaned up", "cleaning up"],
                "@ {oldest|largest|ugliest} {module|function|class}",
            ),
            Task(&["remove", "removed", "removing"], "@ {last global variable|unused options|dead code}"),
            Task(
                &["port", "ported", "porting"],
                "@ {billing|search|import} code to {another language|a smaller library|one file}",
            ),
            Task(
                &["review", "reviewed", "reviewing"],
                "@ {code|changes|own work} {in pairs|on paper|the next morning}",
            ),
            Task(
                &["name", "named", "naming"],
                "@ {functions|variables|modules} {properly|once and for all|after the domain}",
            ),
        ],
        facts: &[
            "The comment said {temporary|do not touch|fix me}, and it was {nine|twelve} years old.",
            "Deleting code is the {cheapest|fastest|happiest} way to make it faster.",
            "A good name made {two|three} comments superfluous.",
            "Change the shape or the behaviour, never both in one commit.",
            "Half of the options were {never used|always on}.",
            "The second reader always finds something the first one missed.",
        ],
    },
    Topic {
        category: "Programming",
        name: "passwords and keys",
        tags: &["security", "recovery"],
        tasks: &[
            Task(
                &["rotate", "rotated", "rotating"],
                "@ {keys|secrets|certificates} {every month|without an outage|in one evening}",
            ),
            Task(
                &["store", "stored", "storing"],
                "@ {passwords|tokens|recovery codes} {on paper|offline|in one place}",
            ),
            Task(
                &["audit", "audited", "auditing"],
                "@ {logins|permissions|dependencies} {with a spreadsheet|line by line|in a day}",
            ),
            Task(
                &["lock down", "locked down", "locking down"],
                "@ {office network|admin pages|test server} {in an hour|before the holidays}",
            ),
        ],
        facts: &[
            "The weakest password belonged to the {printer|test account|founder}.",
            "A secret that is in two places is in ten places.",
            "{Eleven|Four|Seven} accounts belonged to people who had left.",
            "Long and memorable beats short and {clever|strange}.",
            "Whoever can read the backup can read everything.",
            "Convenience won {twice|more often than we like to admit}.",
        ],
    },
    Topic {
        category: "Web",
        name: "fast pages",
        tags: &["performance", "css"],
        tasks: &[
            Task(
                &["shrink", "shrank", "shrinking"],
                "@ {home|product|search} page to {fifty|a hundred} kilobytes",
            ),
            Task(
                &["compress", "compressed", "compressing"],
                "@ {images|fonts|style sheets} {once|at build time|without losing detail}",
            ),
            Task(
                &["drop", "dropped", "dropping"],
                "@ {JavaScript framework|tracking scripts|web fonts|cookie banner}",
            ),
            Task(&["measure", "measured", "measuring"], "@ pages on {an old phone|a slow train|hotel wifi}"),
            Task(
                &["serve", "served", "serving"],
                "@ {whole site|pictures|archive} from {one small server|a single file|memory}",
            ),
        ],
        facts: &[
            "The {logo|banner|font} alone weighed more than the text of the whole site.",
            "Visitors do not wait {three|four|five} seconds, and neither do we.",
            "Half a second less meant {five|eight|twelve} percent more orders.",
            "The fastest request is the one that is never made.",
            "An old phone is the best test {lab|bench} there is.",
            "Nobody missed the {animation|carousel|popup}.",
        ],
    },
    Topic {
        category: "Web",
        name: "accessibility",
        tags: &["accessibility", "design"],
        tasks: &[
            Task(
                &["test", "tested", "testing"],
                "@ {forms|menus|checkout} with {a screen reader|only a keyboard|real users}",
            ),
            Task(
                &["fix", "fixed", "fixing"],
                "@ {colours|headings|labels|error messages} {one page at a time|everywhere}",
            ),
            Task(
                &["simplify", "simplified", "simplifying"],
                "@ {longest|order|contact} form {to five fields|for everybody}",
            ),
            Task(&["rebuild", "rebuilt", "rebuilding"], "@ {menu|calendar|date picker} with plain HTML"),
        ],
        facts: &[
            "A button is a button, and a link is a link.",
            "{Grey on grey|Tiny text|A missing label} was the most common complaint.",
            "What helps somebody with one hand helps everybody with a {coffee|child|bag} in the other.",
            "We watched a blind colleague order a {book|ticket|lamp}, and it took {nine|fourteen} minutes.",
            "The browser already does {most|half} of this, if you let it.",
            "Plain words are an {interface|improvement} too.",
        ],
    },
    Topic {
        category: "Teamwork",
        name: "meetings",
        tags: &["meetings", "remote-work", "habits"],
        tasks: &[
            Task(
                &["cancel", "cancelled", "cancelling"],
                "@ {weekly|Monday|longest|largest} meeting {for a month|for good}",
            ),
            Task(
                &["shorten", "shortened", "shortening"],
                "@ {meetings|stand-up|planning} to {ten|fifteen|twenty} minutes",
            ),
            Task(
                &["plan", "planned", "planning"],
                "@ {week|quarter|holidays} {on one page|with sticky notes|out loud}",
            ),
            Task(
                &["write", "wrote", "writing"],
                "@ {decisions|minutes|questions} down {at once|in one place|in public}",
            ),
        ],
        facts: &[
            "A meeting without {a question|an agenda|an end} becomes a habit.",
            "Those who speak least had the {best|most useful} ideas, in writing.",
            "We won {four|six|nine} hours a week and lost {nothing|one argument}.",
            "Decisions that are not written down are made again.",
            "Silence on a call is not consent; it is often {lunch|a bad connection}.",
            "{Three|Four|Five} people decide; {eight|nine|ten} people discuss.",
        ],
    },
    Topic {
        category: "Teamwork",
        name: "documentation",
        tags: &["documentation", "habits"],
        tasks: &[
            Task(
                &["rewrite", "rewrote", "rewriting"],
                "@ {manual|handbook|introduction|wiki} {in plain words|with examples|for newcomers}",
            ),
            Task(&["delete", "deleted", "deleting"], "@ {outdated|duplicate|longest} pages"),
            Task(
                &["welcome", "welcomed", "welcoming"],
                "@ new colleagues with {one page|a checklist|a working laptop}",
            ),
            Task(
                &["translate", "translated", "translating"],
                "@ {manual|error messages|help pages} into {four languages|plain English}",
            ),
        ],
        facts: &[
            "The best page was written by the {newest|quietest} colleague.",
            "An example says more than {a paragraph|two pages|any diagram}.",
            "We removed {two thirds|half|a third} of it, and people started to read the rest.",
            "Write why; the {code|screen} already says what.",
            "The page was correct in {2019|the week it was written}.",
            "If a question comes twice, the answer belongs on a page.",
        ],
    },
];
