-- Sample rows. Numbers are fixed, so the calls in README.md always find what they name;
-- rows that you add are numbered from 101.


insert into branch (id, name, address) overriding system value values
  (1, 'Harbour Library', ('3 Quay Street', 'H1 4AB', 'Port Ellis')),
  (2, 'Hill & Dale Library', ('58 Upper Road', 'H7 2QD', 'Port Ellis'));

insert into opening_hours (branch_id, weekday, opens, closes) values
  (1, 'monday',    '09:00', '18:00'),
  (1, 'tuesday',   '09:00', '18:00'),
  (1, 'thursday',  '09:00', '20:00'),
  (1, 'friday',    '09:00', '18:00'),
  (1, 'saturday',  '10:00', '14:00'),
  (2, 'tuesday',   '13:00', '18:00'),
  (2, 'wednesday', '13:00', '18:00'),
  (2, 'saturday',  '09:30', '12:30');

insert into author (id, name, born) overriding system value values
  ( 1, 'Jane Austen',            1775),
  ( 2, 'Mary Shelley',           1797),
  ( 3, 'Herman Melville',        1819),
  ( 4, 'George Eliot',           1819),
  ( 5, 'Ursula K. Le Guin',      1929),
  ( 6, 'Chinua Achebe',          1930),
  ( 7, 'Gabriel García Márquez', 1927),
  ( 8, 'Neil Gaiman',            1960),
  ( 9, 'Terry Pratchett',        1948),
  (10, 'Charles Darwin',         1809),
  (11, 'Harold Abelson',         1947),
  (12, 'Gerald Jay Sussman',     1947),
  (13, 'E. B. White',            1899),
  (14, 'Walt Whitman',           1819),
  (15, 'Barbara W. Tuchman',     1912),
  (16, 'William Shakespeare',    1564),
  (17, 'Rachel Carson',          1907);

insert into book (id, isbn, title, genre, published) overriding system value values
  ( 1, '9780141439518', 'Pride and Prejudice',           'novel',    1813),
  ( 2, '9780141439471', 'Frankenstein',                  'novel',    1818),
  ( 3, '9780142437247', 'Moby-Dick',                     'novel',    1851),
  ( 4, '9780141439549', 'Middlemarch',                   'novel',    1871),
  ( 5, '9780441478125', 'The Left Hand of Darkness',     'fantasy',  1969),
  ( 6, '9780547773742', 'A Wizard of Earthsea',          'fantasy',  1968),
  ( 7, '9780385474542', 'Things Fall Apart',             'novel',    1958),
  ( 8, '9780060883287', 'One Hundred Years of Solitude', 'novel',    1967),
  ( 9, '9780060853983', 'Good Omens',                    'fantasy',  1990),
  (10, '9780140439120', 'The Origin of Species',         'science',  1859),
  (11, '9780262510875', 'Structure and Interpretation of Computer Programs', 'science', 1985),
  (12, '9780064400558', 'Charlotte''s Web',              'children', 1952),
  (13, '9780140421996', 'Leaves of Grass',               'poetry',   1855),
  (14, '9780345476098', 'The Guns of August',            'history',  1962),
  (15, '9780743477123', 'Hamlet',                        'drama',    1603),
  (16, '9780618249060', 'Silent Spring',                 'science',  1962);

insert into book_author (book_id, author_id, place) values
  (1, 1, 1), (2, 2, 1), (3, 3, 1), (4, 4, 1), (5, 5, 1), (6, 5, 1), (7, 6, 1), (8, 7, 1),
  (9, 9, 1), (9, 8, 2), (10, 10, 1), (11, 11, 1), (11, 12, 2), (12, 13, 1), (13, 14, 1),
  (14, 15, 1), (15, 16, 1), (16, 17, 1);

insert into book_copy (id, book_id, branch_id, shelf, place, condition) overriding system value values
  ( 1,  1, 1, 'Novels',   5,    'good'),
  ( 2,  1, 2, 'Novels',   1,    'worn'),
  ( 3,  2, 1, 'Novels',   1,    'good'),
  ( 4,  3, 1, 'Novels',   4,    'worn'),
  ( 5,  4, 1, 'Novels',   2,    'good'),
  ( 6,  5, 1, 'Fantasy',  3,    'new'),
  ( 7,  5, 2, 'Fantasy',  2,    'good'),
  ( 8,  6, 1, 'Fantasy',  1,    'good'),
  ( 9,  7, 2, 'Novels',   2,    'new'),
  (10,  8, 1, 'Novels',   3,    'good'),
  (11,  9, 1, 'Fantasy',  2,    'worn'),
  (12,  9, 2, 'Fantasy',  1,    'withdrawn'),
  (13, 10, 1, 'Science',  1,    'good'),
  (14, 11, 1, 'Science',  2,    'worn'),
  (15, 12, 2, 'Children', 1,    'good'),
  (16, 12, 2, 'Children', 2,    'new'),
  (17, 13, 1, 'Poetry',   1,    'good'),
  (18, 14, 1, 'History',  1,    'new'),
  (19, 15, 2, 'Drama',    1,    'good'),
  (20, 16, 1, 'Science',  null, 'new');

insert into member (id, name, email, membership, joined_on, left_on, address) overriding system value values
  (1, 'Ada Brandt',    'ada@example.org',    'adult', '2021-09-14', null, ('12 Mill Lane', 'H2 1XY', 'Port Ellis')),
  (2, 'Boris Okafor',  'boris@example.org',  'adult', '2022-01-20', null, ('7 Chandler Row', 'H1 9CD', 'Port Ellis')),
  (3, 'Carmen Díaz',   'carmen@example.org', 'staff', '2019-03-01', null, ('40 Upper Road', 'H7 2QE', 'Port Ellis')),
  (4, 'Dewi Putri',    'dewi@example.org',   'child', '2024-06-03', null, ('12 Station Road', 'H3 5RT', 'Port Ellis')),
  (5, 'Emil Novak',    'emil@example.org',   'adult', '2023-11-11', null, null),
  (6, 'Fiona McBride', 'fiona@example.org',  'adult', '2018-05-28', '2024-12-31', null);

insert into loan (id, copy_id, member_id, lent_on, days, returned_at) overriding system value values
  ( 1,  1, 1, '2025-01-07', 21, '2025-01-24 10:12:00+00'),
  ( 2,  6, 1, '2025-01-24', 21, '2025-02-14 16:40:00+00'),
  ( 3, 11, 2, '2025-01-16', 21, '2025-02-20 17:05:00+00'),
  ( 4, 15, 4, '2025-02-01', 21, '2025-02-15 10:30:00+00'),
  ( 5, 13, 5, '2025-01-02', 21, '2025-03-27 12:00:00+00'),
  ( 6, 10, 3, '2025-02-11', 42, '2025-03-20 09:01:00+00'),
  ( 7,  3, 1, '2025-03-03', 21, null),
  ( 8,  6, 2, '2025-03-07', 21, null),
  ( 9, 16, 4, '2025-03-15', 14, null),
  (10, 14, 3, '2025-02-06', 42, null),
  (11,  9, 2, '2025-03-18', 21, null);

insert into reservation (id, book_id, member_id, reserved_at) overriding system value values
  (1, 2, 3, '2025-03-10 09:30:00+00'),
  (2, 2, 5, '2025-03-12 14:05:00+00'),
  (3, 1, 4, '2025-03-29 10:20:00+00');

insert into fine (loan_id, amount, paid_at) values
  (3, 2.80, '2025-02-20 17:06:00+00'),
  (5, 10.00, null);


alter table branch      alter id restart with 101;
alter table author      alter id restart with 101;
alter table book        alter id restart with 101;
alter table book_copy   alter id restart with 101;
alter table member      alter id restart with 101;
alter table loan        alter id restart with 101;
alter table reservation alter id restart with 101;
