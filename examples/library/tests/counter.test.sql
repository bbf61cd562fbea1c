-- Tests of the counter: lending, returning, fines, reservations.

-- What each test of the file begins with: a member, and a copy that is not lent.
-- POST /api/members
-- {"name": "Gus Lind", "email": "gus@example.org", "address": {"city": "Port Ellis"}}
-- expect 200 body contains {"name": "Gus Lind", "membership": "adult"}
-- capture member = $.id
insert into book_copy (book_id, branch_id, shelf, condition) values (5, 1, 'Fantasy', 'new') returning id;
-- capture copy

-- test a copy is lent once
-- POST /api/lend-copy
-- {"copyId": {{copy}}, "memberId": {{member}}}
-- expect 200 body contains {"member": "Gus Lind"}
-- POST /api/lend-copy
-- {"copyId": {{copy}}, "memberId": {{member}}}
-- expect 409
-- GET /api/members/{{member}}/statement
-- expect body contains {"name": "Gus Lind", "toPay": 0}
select count(*) = 1 from current_loan where copy_id = :copy;

-- test a fine is paid before the next loan
insert into loan (copy_id, member_id, lent_on) values (:copy, :member, current_date - 100);
-- POST /api/return-copy?copyId={{copy}}
-- expect 200
select amount > 0 from fine join loan on loan.id = loan_id where member_id = :member;
-- POST /api/lend-copy
-- {"copyId": {{copy}}, "memberId": {{member}}}
-- expect 400 body contains {"title": "Gus Lind has unpaid fines."}
-- POST /api/members/{{member}}/payments
-- expect 200
-- POST /api/lend-copy
-- {"copyId": {{copy}}, "memberId": {{member}}}
-- expect 200

-- test a reserved book goes to the first of the queue
delete from reservation where book_id = 5;
-- POST /api/reserve-book
-- {"bookId": 5, "memberId": 1}
-- expect body {"place": 1}
-- POST /api/lend-copy
-- {"copyId": {{copy}}, "memberId": {{member}}}
-- expect 400
select id from reservation where book_id = 5;
-- capture reservation
-- DELETE /api/reservations/{{reservation}}
-- expect 204
-- POST /api/lend-copy
-- {"copyId": {{copy}}, "memberId": {{member}}}
-- expect 200
