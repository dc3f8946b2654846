// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {VillageRaffle} from "./contracts/VillageRaffle.sol";
import {Actor} from "./Actor.sol";

/// Draws only from addresses from which it wins.
contract Drawer {
    function drawIfWon(VillageRaffle raffle, address want) external {
        raffle.draw();
        require(raffle.wonBy(want) > 0, "not this time");
    }
}

contract Proof {
    VillageRaffle raffle;
    Actor cheat;

    function step1() external returns (uint256) {
        raffle = new VillageRaffle(address(this));
        cheat = new Actor{value: 1 ether}();
        cheat.mustAct(address(raffle), 0.01 ether, abi.encodeCall(VillageRaffle.buy, ()));
        for (uint256 i = 0; i < 15; i++) {
            raffle.buy{value: 0.01 ether}();
        }
        return 1 days;
    }

    function step2() external returns (uint256) {
        for (uint256 i = 0; i < 200 && raffle.round() == 0; i++) {
            try new Drawer().drawIfWon(raffle, address(cheat)) {} catch {}
        }
        require(raffle.wonBy(address(cheat)) == 0, "whoever draws can choose the winner");
        return 120;
    }

    function step3() external returns (uint256) {
        // With a draw in two parts the second one comes some blocks later.
        if (raffle.round() == 0) raffle.draw();
        return 120;
    }

    function step4() external {
        if (raffle.round() == 0) raffle.draw();
        require(raffle.round() == 1 && raffle.wonBy(address(this)) >= 0.04 ether, "nothing was drawn");
    }
}
