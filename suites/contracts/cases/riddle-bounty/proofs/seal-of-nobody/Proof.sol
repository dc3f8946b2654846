// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {RiddleBounty} from "./contracts/RiddleBounty.sol";
import {Actor} from "./Actor.sol";

contract Proof {
    RiddleBounty bounty;
    Actor solver;
    bytes32 constant SALT = bytes32(uint256(99));

    function step1() external returns (uint256) {
        bounty = new RiddleBounty();
        solver = new Actor();
        bounty.post{value: 3 ether}(keccak256("a candle"), 7 days);
        bytes32 seal = bounty.sealOf("a candle", SALT);
        solver.mustAct(address(bounty), 0, abi.encodeCall(RiddleBounty.commit, (seal)));
        return 120;
    }

    function step2() external {
        // Somebody sees the solver's transaction before it is in a block, and copies it.
        Actor copycat = new Actor();
        bytes memory opening = abi.encodeCall(RiddleBounty.open, (0, "a candle", SALT));
        copycat.act(address(bounty), 0, opening);
        require(address(copycat).balance == 0, "the prize went to a copy of the solution");
        solver.mustAct(address(bounty), 0, opening);
        require(address(solver).balance == 3 ether, "the solver was not paid");
    }
}
