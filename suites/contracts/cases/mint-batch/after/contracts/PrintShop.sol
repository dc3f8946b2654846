// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

/// Sells numbered prints of several artists. Calls can be bundled, so that a basket is one transaction.
contract PrintShop {
    struct Print {
        address artist;
        uint256 price;
        uint256 edition;
        uint256 sold;
    }

    Print[] public prints;
    mapping(uint256 => mapping(uint256 => address)) public ownerOf;
    mapping(address => uint256) public earnedBy;

    event Offered(uint256 indexed id, address indexed artist, uint256 price, uint256 edition);
    event Bought(uint256 indexed id, uint256 number, address indexed buyer);

    function offer(uint256 price, uint256 edition) external returns (uint256 id) {
        require(price > 0 && edition > 0, "bad offer");
        id = prints.length;
        prints.push(Print(msg.sender, price, edition, 0));
        emit Offered(id, msg.sender, price, edition);
    }

    function buy(uint256 id, address receiver) public payable {
        Print storage print = prints[id];
        require(print.sold < print.edition, "sold out");
        require(msg.value == print.price, "wrong price");
        print.sold += 1;
        ownerOf[id][print.sold] = receiver;
        earnedBy[print.artist] += print.price;
        emit Bought(id, print.sold, receiver);
    }

    /// Several calls in one transaction.
    function bundle(bytes[] calldata calls) external payable {
        for (uint256 i = 0; i < calls.length; i++) {
            (bool ok, ) = address(this).delegatecall(calls[i]);
            require(ok, "a call failed");
        }
    }

    function give(uint256 id, uint256 number, address to) external {
        require(ownerOf[id][number] == msg.sender && to != address(0), "cannot give");
        ownerOf[id][number] = to;
    }

    function take() external {
        uint256 amount = earnedBy[msg.sender];
        require(amount > 0, "nothing earned");
        earnedBy[msg.sender] = 0;
        (bool ok, ) = payable(msg.sender).call{value: amount}("");
        require(ok, "payment refused");
    }
}
