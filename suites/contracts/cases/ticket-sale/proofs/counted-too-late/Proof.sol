// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {TicketSale} from "./contracts/TicketSale.sol";

contract Buyer {
    TicketSale immutable sale;
    bool greedy;

    constructor(TicketSale sale_) payable {
        sale = sale_;
    }

    function run(uint256 count, bool greedy_) external {
        greedy = greedy_;
        sale.buy{value: count * 0.05 ether}(count);
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        if (greedy && sale.balanceOf(address(this)) < 12) {
            try sale.buy{value: 0.05 ether}(1) {} catch {}
        }
        return this.onERC721Received.selector;
    }
}

contract Proof {
    function step1() external {
        TicketSale sale = new TicketSale();
        Buyer honest = new Buyer{value: 1 ether}(sale);
        honest.run(2, false);
        honest.run(2, false);
        require(sale.balanceOf(address(honest)) == 4, "four tickets cannot be bought");
        Buyer buyer = new Buyer{value: 1 ether}(sale);
        buyer.run(4, true);
        require(sale.balanceOf(address(buyer)) <= 4, "one wallet bought more than four tickets");
    }
}
