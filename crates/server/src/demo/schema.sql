-- The tables of the sample blog. The types are those of the protocol, so that they come back as they are read here.

CREATE TABLE users (
    id integer NOT NULL PRIMARY KEY,
    username varchar(50) NOT NULL UNIQUE,
    full_name varchar(100) NOT NULL,
    bio varchar(255) NULL,
    joined_at date NOT NULL
);

CREATE TABLE categories (
    id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL UNIQUE,
    description varchar(255) NOT NULL
);

CREATE TABLE tags (
    id integer NOT NULL PRIMARY KEY,
    name varchar(50) NOT NULL UNIQUE,
    is_important boolean NOT NULL DEFAULT 0
);

CREATE TABLE posts (
    id integer NOT NULL PRIMARY KEY,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
    category_id integer NOT NULL REFERENCES categories (id) ON DELETE RESTRICT,
    title varchar(255) NOT NULL,
    slug varchar(255) NOT NULL UNIQUE,
    content clob NOT NULL,
    published boolean NOT NULL DEFAULT 0,
    view_count integer NOT NULL DEFAULT 0,
    -- A draft has no moment of publication yet.
    published_at timestamp NULL,
    rating decimal(3,2) NULL
);

CREATE TABLE comments (
    id integer NOT NULL PRIMARY KEY,
    post_id integer NOT NULL REFERENCES posts (id) ON DELETE RESTRICT,
    user_id integer NOT NULL REFERENCES users (id) ON DELETE RESTRICT,
    message clob NOT NULL,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
);

CREATE TABLE post_tags (
    id integer NOT NULL PRIMARY KEY,
    post_id integer NOT NULL REFERENCES posts (id) ON DELETE RESTRICT,
    tag_id integer NOT NULL REFERENCES tags (id) ON DELETE RESTRICT,
    UNIQUE (post_id, tag_id)
);

-- The caller draws the id, as for a row that many servers may create at once. Without the row id of SQLite there is
-- one tree to search instead of two: a bigint key is no alias of it.
CREATE TABLE visitors (
    id bigint NOT NULL PRIMARY KEY,
    response integer NULL,
    closes integer NOT NULL DEFAULT 0,
    created_at timestamp NOT NULL DEFAULT CURRENT_TIMESTAMP
) WITHOUT ROWID;

CREATE VIEW post_overview AS
SELECT
    posts.id AS id,
    posts.title AS title,
    users.full_name AS author,
    categories.name AS category,
    -- An expression has no declared type; the cast gives it one.
    CAST((SELECT count(*) FROM comments WHERE comments.post_id = posts.id) AS integer) AS comments
FROM posts
JOIN users ON users.id = posts.user_id
JOIN categories ON categories.id = posts.category_id;
