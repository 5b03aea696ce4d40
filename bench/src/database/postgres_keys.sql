ALTER TABLE users ADD PRIMARY KEY (id), ADD UNIQUE (username);
ALTER TABLE categories ADD PRIMARY KEY (id), ADD UNIQUE (name);
ALTER TABLE posts ADD PRIMARY KEY (id), ADD UNIQUE (slug), ADD FOREIGN KEY (user_id) REFERENCES users (id),
    ADD FOREIGN KEY (category_id) REFERENCES categories (id);
ALTER TABLE comments ADD PRIMARY KEY (id), ADD FOREIGN KEY (post_id) REFERENCES posts (id),
    ADD FOREIGN KEY (user_id) REFERENCES users (id);
ALTER TABLE guests ADD PRIMARY KEY (id);
ALTER TABLE visitors ADD PRIMARY KEY (id);
CREATE INDEX ON posts (user_id);
CREATE INDEX ON posts (category_id);
CREATE INDEX ON posts (published_at);
CREATE INDEX ON comments (post_id);
CREATE INDEX ON comments (user_id);
