//! People: the first and last names, hobbies and biographies of the users.

/// First names, in letters that fit a user name.
pub const FIRST_NAMES: &[&str] = &[
    "Anna", "Omar", "Julia", "Kenji", "Fatima", "Lars", "Maria", "Daniel", "Priya", "Tomas", "Sofie",
    "Marcus", "Ingrid", "Pedro", "Leila", "Oscar", "Hannah", "Ivan", "Chloe", "Samuel", "Aisha", "Victor",
    "Elena", "Hugo", "Nina", "Felix", "Grace", "Mateo", "Yuki", "Arthur", "Clara", "Emil", "Rosa", "Simon",
    "Linh", "Jonas", "Olivia", "Rafael", "Mila", "Peter", "Amara", "David", "Vera", "Lucas", "Noor",
    "Walter", "Iris", "Bruno", "Edith", "Karim",
];

/// Last names from many places, so that a client meets more than ASCII.
pub const LAST_NAMES: &[&str] = &[
    "Müller",
    "Okafor",
    "García",
    "Tanaka",
    "Jansen",
    "Silva",
    "Nowak",
    "Rossi",
    "Østergaard",
    "Dubois",
    "Kowalski",
    "Haddad",
    "Svensson",
    "O'Brien",
    "Novák",
    "Fernández",
    "Petrov",
    "Nguyễn",
    "Bakker",
    "Smith",
    "Lindqvist",
    "Costa",
    "Yılmaz",
    "Moreau",
    "Visser",
    "Kaya",
    "Horváth",
    "Mensah",
    "Sørensen",
    "Weber",
    "Ferrari",
    "Takahashi",
    "Patel",
    "Virtanen",
    "Murphy",
    "de Vries",
    "Popescu",
    "Lefèvre",
    "Castro",
    "Schneider",
    "Ali",
    "Brown",
    "Hansen",
    "Marino",
    "Çelik",
    "Walker",
    "Fischer",
    "Santos",
    "Björk",
    "Adeyemi",
];

/// What somebody does in a user name: `anna_bakes`.
pub const HOBBIES: &[&str] =
    &["bakes", "rides", "codes", "grows", "hikes", "writes", "mends", "reads", "brews", "builds"];

/// Biographies.
pub const BIOGRAPHIES: &[&str] = &[
    "Keeps {servers|databases|old machines} running by day and {bread|a garden|two bicycles} going by night.",
    "{Developer|Engineer|Administrator|Designer} in a {small|large|friendly} {company|town|office}. Writes to remember.",
    "I {build|repair|break} things and write down {how|why|what it cost}.",
    "Fond of {simple|quiet|boring} {software|tools|solutions} and {strong|good|too much} coffee.",
    "{Ten|Fifteen|Twenty} years of {databases|web pages|servers}, {three|two|four} of sourdough.",
    "Mostly {tests|queries|backups} on weekdays, mostly {hills|tomatoes|crumbs} on weekends.",
    "Learning in public, one {mistake|experiment|small step} at a time.",
    "Former {teacher|baker|librarian|bicycle messenger}, now {a programmer|a tester|an administrator}.",
];
