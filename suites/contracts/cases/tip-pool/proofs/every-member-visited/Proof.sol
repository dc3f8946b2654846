// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {TipPool} from "./contracts/TipPool.sol";
import {Actor} from "./Actor.sol";

contract Proof {
    TipPool pool;
    Actor member;

    function enter(uint160 from, uint160 count) private {
        for (uint160 i = from; i < from + count; i++) {
            pool.join{value: 1 wei}(address(0x10000 + i));
        }
    }

    function gasOfTip() private returns (uint256) {
        uint256 before = gasleft();
        pool.tip{value: 1 ether}();
        return before - gasleft();
    }

    function step1() external {
        pool = new TipPool();
        member = new Actor();
        pool.join{value: 1 ether}(address(member));
        enter(0, 20);
        gasOfTip();
        uint256 few = gasOfTip();
        enter(20, 100);
        gasOfTip();
        require(gasOfTip() < 2 * few, "the gas of a tip grows with every entry of one wei");
        member.mustAct(address(pool), 0, abi.encodeCall(TipPool.take, ()));
        require(address(member).balance > 3.99 ether, "the member was not paid");
        (bool ok, ) = member.act(address(pool), 0, abi.encodeCall(TipPool.take, ()));
        require(!ok, "a tip was paid twice");
    }
}
