// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

interface ITicketReceiver {
    function onERC721Received(address operator, address from, uint256 id, bytes calldata data) external returns (bytes4);
}

/// Sells the numbered tickets of a small festival. So that everybody has a chance, a wallet may buy four.
contract TicketSale {
    uint256 public constant PRICE = 0.05 ether;
    uint256 public constant PER_WALLET = 4;
    uint256 public constant CAPACITY = 600;

    address public immutable organiser;
    uint256 public sold;
    mapping(uint256 => address) public ownerOf;
    mapping(address => uint256) public balanceOf;
    mapping(address => uint256) public boughtBy;

    event Transfer(address indexed from, address indexed to, uint256 indexed id);

    constructor() {
        organiser = msg.sender;
    }

    function buy(uint256 count) external payable {
        require(count > 0 && sold + count <= CAPACITY, "sold out");
        require(boughtBy[msg.sender] + count <= PER_WALLET, "too many for one wallet");
        require(msg.value == count * PRICE, "wrong price");
        for (uint256 i = 0; i < count; i++) {
            issue(msg.sender);
        }
        boughtBy[msg.sender] += count;
    }

    function transfer(address to, uint256 id) external {
        require(ownerOf[id] == msg.sender, "not the owner");
        require(to != address(0), "no receiver");
        balanceOf[msg.sender] -= 1;
        balanceOf[to] += 1;
        ownerOf[id] = to;
        emit Transfer(msg.sender, to, id);
    }

    function collect() external {
        require(msg.sender == organiser, "only the organiser");
        (bool ok, ) = payable(organiser).call{value: address(this).balance}("");
        require(ok, "payment refused");
    }

    function issue(address to) private {
        sold += 1;
        uint256 id = sold;
        ownerOf[id] = to;
        balanceOf[to] += 1;
        emit Transfer(address(0), to, id);
        if (to.code.length > 0) {
            bytes4 answer = ITicketReceiver(to).onERC721Received(msg.sender, address(0), id, "");
            require(answer == ITicketReceiver.onERC721Received.selector, "receiver refuses");
        }
    }
}
