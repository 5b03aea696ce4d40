CREATE TABLE users (
    id integer NOT NULL PRIMARY KEY, username varchar(50) NOT NULL UNIQUE, full_name varchar(100) NOT NULL,
    bio varchar(255) NULL, joined_at date NOT NULL
);
CREATE TABLE categories (
    id integer NOT NULL PRIMARY KEY, name varchar(50) NOT NULL UNIQUE, description varchar(255) NOT NULL
);
CREATE TABLE posts (
    id integer NOT NULL PRIMARY KEY, user_id integer NOT NULL, category_id integer NOT NULL,
    title varchar(255) NOT NULL, slug varchar(255) NOT NULL UNIQUE, content text NOT NULL,
    published boolean NOT NULL, view_count integer NOT NULL, published_at datetime NULL, rating decimal(3,2) NULL,
    KEY (published_at), FOREIGN KEY (user_id) REFERENCES users (id), FOREIGN KEY (category_id) REFERENCES categories (id)
);
CREATE TABLE comments (
    id integer NOT NULL PRIMARY KEY, post_id integer NOT NULL, user_id integer NOT NULL, message text NOT NULL,
    created_at datetime NOT NULL,
    FOREIGN KEY (post_id) REFERENCES posts (id), FOREIGN KEY (user_id) REFERENCES users (id)
);
CREATE TABLE guests (
    id bigint NOT NULL PRIMARY KEY, response integer NULL, closes integer NOT NULL, created_at datetime NOT NULL
);
CREATE TABLE visitors LIKE guests;
CREATE TABLE entries (
    id integer NOT NULL PRIMARY KEY AUTO_INCREMENT, name varchar(100) NOT NULL, score integer NOT NULL
);

-- What imports fill.
CREATE TABLE imported (id bigint NOT NULL PRIMARY KEY, response tinyint);
