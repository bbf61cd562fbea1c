-- Tests of the catalogue: npx pgway test, in the folder of the example.

-- test books are found by title and genre
-- GET /api/books?text=of&genres=novel&genres=fantasy
-- expect 200 body contains [{"title": "The Left Hand of Darkness"}]

-- test a new book has its authors
-- POST /api/add-book
-- {"isbn": "9780062225672", "title": "Mort", "genre": "fantasy",
--  "published": 1987, "authors": ["Terry Pratchett"]}
-- expect 200 body contains {"title": "Mort", "century": 20}
-- capture id = $.id
-- GET /api/books/{{id}}/card
-- expect body contains {"title": "Mort", "authors": ["Terry Pratchett"], "copies": []}
-- GET /api/get-authors?isbn=9780062225672
-- expect body ["Terry Pratchett"]
select count(*) = 1 from book_author where book_id = :id;

-- test an ISBN that is known is refused
select isbn from book where id = 9;
-- capture isbn
-- POST /api/add-book
-- {"isbn": "{{isbn}}", "title": "A copy", "genre": "novel", "published": 2000}
-- expect 409
-- GET /api/get-authors?isbn=978-0060853983
-- expect 400 problem invalid-parameter
select count(*) = 0 from book where title = 'A copy';

-- test the rules of a book are those of the table
insert into book (isbn, title, genre, published) values ('9780062225672', '', 'novel', 1987);
-- expect error 23514
insert into book (isbn, title, genre, published) values ('123', 'Mort', 'novel', 1987);
-- expect error 23514

-- test an unknown book has no content
-- GET /api/books/999
-- expect 204

-- test copies are counted by condition
-- GET /api/count-copies?bookId=9
-- expect body 2
-- GET /api/count-copies?bookId=9&condition=worn
-- expect body 1
-- GET /api/is-available?bookId=9
-- expect 200 header cache-control: max-age=60
