// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {TicketSale} from "./contracts/TicketSale.sol";

contract Buyer {
    TicketSale immutable sale;
    bool greedy;
    Buyer public partner;

    constructor(TicketSale sale_) payable {
        sale = sale_;
    }

    function run(uint256 count, bool greedy_) external {
        greedy = greedy_;
        sale.buy{value: count * 0.05 ether}(count);
    }

    function buyWith(Buyer partner_) external {
        partner = partner_;
        sale.buy{value: 4 * 0.05 ether}(4);
    }

    function onERC721Received(address, address, uint256, bytes calldata) external returns (bytes4) {
        if (greedy && sale.balanceOf(address(this)) < 12) {
            try sale.buy{value: 0.05 ether}(1) {} catch {}
        }
        if (address(partner) != address(0)) {
            try partner.run(1, false) {} catch {}
        }
        return this.onERC721Received.selector;
    }
}

/// A guest who buys four tickets and has no callback.
contract Guest {
    constructor(TicketSale sale) payable {
        sale.buy{value: msg.value}(4);
    }
}

contract Proof {
    TicketSale sale;

    function step1() external {
        sale = new TicketSale();
        Buyer honest = new Buyer{value: 1 ether}(sale);
        honest.run(2, false);
        honest.run(2, false);
        require(sale.balanceOf(address(honest)) == 4, "four tickets cannot be bought");
        Buyer buyer = new Buyer{value: 1 ether}(sale);
        buyer.run(4, true);
        require(sale.balanceOf(address(buyer)) <= 4, "one wallet bought more than four tickets");
    }

    function step2() external {
        while (sale.sold() < 596) new Guest{value: 0.2 ether}(sale);
        Buyer buyer = new Buyer{value: 1 ether}(sale);
        buyer.buyWith(new Buyer{value: 1 ether}(sale));
        require(sale.sold() <= 600, "more tickets were sold than there are");
        require(sale.ownerOf(600) == address(buyer), "the last tickets cannot be bought");
    }
}
