// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {GuestBook} from "./contracts/GuestBook.sol";
import {MuseumProxy} from "./contracts/MuseumProxy.sol";

contract Guest {
    function visit(GuestBook book, address payable self) external {
        book.sign("hello");
        (bool ok, ) = address(book).call(abi.encodeCall(Guest.sweep, (self)));
        ok;
    }

    function sweep(address payable to) external {
        to.transfer(address(this).balance);
    }

    receive() external payable {}
}

contract Proof {
    function step1() external {
        GuestBook code = new GuestBook();
        MuseumProxy proxy = new MuseumProxy(address(code), abi.encodeCall(GuestBook.start, (address(this))));
        GuestBook book = GuestBook(address(proxy));
        // A present that reaches the proxy in another way than by signing.
        new Present{value: 4 ether}(payable(address(proxy)));
        Guest guest = new Guest();
        guest.visit(book, payable(address(guest)));
        require(address(guest).balance == 0, "a guest replaced the code and took the donations");
        book.sign{value: 1 ether}("and again");
        require(book.count() == 2 && book.donatedBy(address(this)) == 1 ether, "the book is damaged");
        uint256 before = address(this).balance;
        book.takeDonations();
        require(address(this).balance == before + 5 ether, "the curator got no donations");
    }

    receive() external payable {}
}

contract Present {
    constructor(address payable to) payable {
        selfdestruct(to);
    }
}
