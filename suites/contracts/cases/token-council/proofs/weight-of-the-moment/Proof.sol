// SPDX-License-Identifier: MIT
pragma solidity 0.8.30;

import {TokenCouncil, IVotes} from "./contracts/TokenCouncil.sol";
import {Actor} from "./Actor.sol";
import {TestToken} from "./TestToken.sol";

/// A token that remembers the balances of every block in which they changed.
contract VotingToken is TestToken {
    mapping(address => uint256[2][]) private past;

    function remember(address account) external {
        past[account].push([block.number, balanceOf[account]]);
    }

    function balanceOfAt(address account, uint256 blockNumber) external view returns (uint256 balance) {
        require(blockNumber < block.number, "not yet over");
        uint256[2][] storage list = past[account];
        for (uint256 i = 0; i < list.length && list[i][0] <= blockNumber; i++) balance = list[i][1];
    }

    function move(address from, address to, uint256 amount) internal override {
        super.move(from, to, amount);
        past[from].push([block.number, balanceOf[from]]);
        past[to].push([block.number, balanceOf[to]]);
    }
}

contract Proof {
    VotingToken token;
    TokenCouncil council;
    Actor[3] cheats;
    Actor honest;

    function cheat(uint256 who, bytes memory data) private {
        cheats[who].act(address(council), 0, data);
    }

    function step1() external returns (uint256) {
        token = new VotingToken();
        council = new TokenCouncil{value: 10 ether}(IVotes(address(token)));
        honest = new Actor();
        for (uint256 i = 0; i < 3; i++) cheats[i] = new Actor();
        token.mint(address(honest), 80);
        token.mint(address(cheats[0]), 40);
        token.remember(address(honest));
        token.remember(address(cheats[0]));
        return 12;
    }

    function step2() external returns (uint256) {
        cheats[0].mustAct(address(council), 0, abi.encodeCall(TokenCouncil.move, (payable(address(cheats[0])), 5 ether)));
        honest.mustAct(address(council), 0, abi.encodeCall(TokenCouncil.move, (payable(address(honest)), 1 ether)));
        return 12;
    }

    function step3() external returns (uint256) {
        honest.mustAct(address(council), 0, abi.encodeCall(TokenCouncil.vote, (0, false)));
        honest.mustAct(address(council), 0, abi.encodeCall(TokenCouncil.vote, (1, true)));
        for (uint256 i = 0; i < 3; i++) {
            cheat(i, abi.encodeCall(TokenCouncil.vote, (0, true)));
            if (i < 2) cheats[i].mustAct(address(token), 0, abi.encodeCall(TestToken.transfer, (address(cheats[i + 1]), 40)));
        }
        return 12 * 7201;
    }

    function step4() external {
        (bool ok, ) = address(council).call(abi.encodeCall(TokenCouncil.carryOut, (0)));
        require(!ok && address(cheats[0]).balance == 0, "forty votes were cast three times");
        council.carryOut(1);
        require(address(honest).balance == 1 ether, "a fair motion was not carried out");
    }
}
