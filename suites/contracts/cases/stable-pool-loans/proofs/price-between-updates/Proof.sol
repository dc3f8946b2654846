// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {StablePool} from "./contracts/StablePool.sol";
import {ShareLoans} from "./contracts/ShareLoans.sol";
import {IERC20} from "./contracts/IERC20.sol";
import {TestToken} from "./TestToken.sol";

contract Borrower {
    StablePool immutable pool;
    ShareLoans immutable loans;
    bool removing;

    constructor(StablePool pool_, ShareLoans loans_) payable {
        pool = pool_;
        loans = loans_;
    }

    function run(TestToken token) external {
        token.approve(address(pool), type(uint256).max);
        pool.add{value: 10 ether}();
        pool.approve(address(loans), type(uint256).max);
        loans.pledge(2 ether);
        uint256 fair = loans.limitOf(address(this));
        require(fair == 1.5 ether, "setup: another limit was expected");
        removing = true;
        pool.remove(18 ether);
        removing = false;
        if (loans.debtOf(address(this)) == 0) loans.borrow(fair);
        require(loans.debtOf(address(this)) <= fair, "more was lent than the pledge allows");
        loans.repay{value: fair}();
        loans.release(2 ether);
    }

    receive() external payable {
        if (removing) {
            try loans.borrow(4 ether) {} catch {}
        }
    }
}

contract Proof {
    function step1() external {
        TestToken token = new TestToken();
        StablePool pool = new StablePool(IERC20(address(token)));
        token.mint(address(this), 1 ether);
        token.approve(address(pool), 1 ether);
        pool.add{value: 1 ether}();
        ShareLoans loans = new ShareLoans{value: 50 ether}(pool);
        Borrower borrower = new Borrower{value: 20 ether}(pool, loans);
        token.mint(address(borrower), 10 ether);
        borrower.run(token);
    }
}
